/* info_yaml.h - reads single entries of a small YAML file: "key: value", and lists. */
#ifndef SFU_INFO_YAML_H
#define SFU_INFO_YAML_H

#include "text.h"

/* The value of a key at the start of a line, without quotes and blanks around it, appended to `value`; a list, as
 * "[a, b]" or as following lines "- a", as its items separated by commas. Nothing is appended if there is no such key
 * or the value is empty. */
SFU_CHECKED sfu_status sfu__yaml_get(sfu__text *value, const char *text, size_t size, const char *key);

#endif
