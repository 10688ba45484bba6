"""Presses Tab, Enter and Space in report.html, in Chromium driven through its debugging pipe.
usage: report_keyboard.py CHROMIUM PROFILE URL"""
import json
import os
import sys


class Browser:
    """One page. Messages go through two pipes, which the browser finds as descriptors 3 and 4, each ended by a 0."""

    def __init__(self, program, profile):
        commands, self.out = os.pipe()
        self.inp, answers = os.pipe()
        self.child = os.fork()
        if self.child == 0:
            commands, answers = os.dup(commands), os.dup(answers)  # out of the way of 3 and 4
            high = [os.dup2(fd, 20 + i) for i, fd in enumerate((commands, answers))]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)
            os.execv(program, [program, '--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
                               '--remote-debugging-pipe', '--user-data-dir=' + profile, 'about:blank'])
        os.close(commands)
        os.close(answers)
        self.number, self.rest, self.session, self.heard = 0, b'', None, []

    def receive(self):
        while b'\0' not in self.rest:
            piece = os.read(self.inp, 65536)
            if not piece:
                raise SystemExit('the browser has gone')
            self.rest += piece
        message, self.rest = self.rest.split(b'\0', 1)
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': params}
        if self.session:
            message['sessionId'] = self.session
        os.write(self.out, json.dumps(message).encode() + b'\0')
        while True:
            answer = self.receive()
            if answer.get('id') == self.number:
                assert 'error' not in answer, answer
                return answer['result']
            self.heard.append(answer)

    def wait(self, method):
        while not any(event.get('method') == method for event in self.heard):
            self.heard.append(self.receive())

    def open(self, url):
        target = self.call('Target.createTarget', url='about:blank')['targetId']
        self.session = self.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log'):
            self.call(domain + '.enable')
        self.heard.clear()
        self.call('Page.navigate', url=url)
        self.wait('Page.loadEventFired')

    def value(self, expression):
        return self.call('Runtime.evaluate', expression=expression, returnByValue=True)['result'].get('value')

    def press(self, key, code, text=''):
        for kind in ('keyDown', 'keyUp'):
            self.call('Input.dispatchKeyEvent', type=kind, key=key, code=key, windowsVirtualKeyCode=code,
                      text=text if kind == 'keyDown' else '')


def main(program, profile, url):
    browser = Browser(program, profile)
    browser.open(url)
    # From the top of the page the keyboard comes to the link over the menu, the menu, the first table and its heads.
    path = []
    for _ in range(40):
        browser.press('Tab', 9)
        path.append(browser.value('document.activeElement.className || document.activeElement.tagName'))
        if path[-1] == 'BUTTON':
            break
    assert path[0] == 'skip' and path[1] == 'A' and path[-1] == 'BUTTON', path
    sort = 'document.activeElement.parentNode.getAttribute("aria-sort")'
    assert browser.value(sort) == 'none'
    browser.press('Enter', 13, '\r')
    assert browser.value(sort) == 'ascending', browser.value(sort)
    browser.press(' ', 32, ' ')
    assert browser.value(sort) == 'descending', browser.value(sort)
    # What has the focus shows it.
    assert browser.value('getComputedStyle(document.activeElement).outlineStyle') == 'solid'
    wrong = [event for event in browser.heard
             if event.get('method') in ('Runtime.exceptionThrown', 'Runtime.consoleAPICalled', 'Log.entryAdded')]
    assert not wrong, wrong
    os.close(browser.out)
    os.waitpid(browser.child, 0)
    print(f'keys: {len(path)} tabs to the first head, Enter and Space sort')


main(*sys.argv[1:])
