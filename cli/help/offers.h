/* offers.h - values that shell completion offers for free-text options. Any other valid value is accepted, too. */
#ifndef SFU_OFFERS_H
#define SFU_OFFERS_H

/* The i-th value, NULL after the last (a names_fn). `text` is not used. */
const char *offer_splits(int i, const char **text);
const char *offer_size(int i, const char **text);
const char *offer_sizes(int i, const char **text);
const char *offer_spaces(int i, const char **text);
const char *offer_budgets(int i, const char **text);
const char *offer_label_nets(int i, const char **text);
const char *offer_devices(int i, const char **text);
const char *offer_studies(int i, const char **text);

#endif
