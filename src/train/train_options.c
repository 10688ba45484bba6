#include "train.h"

void sfu_train_options_init(sfu_train_options *options) {
    *options = (sfu_train_options){.lr = 0.01,
                                   .weight_decay = 5e-4,
                                   .dropout = 0.5,
                                   .loss = SFU_LOSS_MEAN,
                                   .epochs = 500,
                                   .patience = 25,
                                   .keep = SFU_KEEP_BEST,
                                   .device = "cpu"};
}
