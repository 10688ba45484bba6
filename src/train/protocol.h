/* protocol.h - the number of the protocol by which trials are sampled, trained, validated and chosen.
 *
 * Raise it when the same options give other numbers than before. Studies and comparison folders record it and are
 * continued only by a program with the same one; the version of the program may differ. Studies and folders of version
 * 0.1.0 do not record it: theirs is 1.
 */
#ifndef SFU_PROTOCOL_H
#define SFU_PROTOCOL_H

enum { SFU__PROTOCOL = 1, SFU__PROTOCOL_UNRECORDED = 1 };

#endif
