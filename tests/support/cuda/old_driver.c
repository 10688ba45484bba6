/* old_driver.c - a CUDA driver that lacks the functions of newer ones. */
__attribute__((visibility("default"))) int cuInit(unsigned flags);

int cuInit(unsigned flags) { return (int)flags; }
