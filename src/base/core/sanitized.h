/* sanitized.h - whether this code is compiled with the address sanitizer. */
#ifndef SFU_SANITIZED_H
#define SFU_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SFU__SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SFU__SANITIZED 1
#endif
#endif
#ifndef SFU__SANITIZED
#define SFU__SANITIZED 0
#endif

#endif
