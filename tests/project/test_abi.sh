# A program that was compiled with an older header, whose structs are smaller, runs with this shared library: the
# library reads and writes no more than the program has. One with a newer header is told when it asks for too much.
[ "$BUILD_KIND" = cross ] && echo "skipped: the program is for another machine" && exit 77
flags="-std=c17 -Wall -Wextra -Wpedantic -Werror"
[ "$BUILD_KIND" = sanitized ] && flags="$flags -fsanitize=address,undefined"

# The older header: sfu_train_options ends before `device`, sfu_info before `max_degree`, sfu_layer before `dropout`.
# The newer one: sfu_train_options has one option more.
cut_struct() { # NAME FIRST-FIELD-TO-GO: the header without the fields from that one on
    awk -v name="$1" -v field="$2" '
        $0 ~ "^typedef struct " name " \\{" { inside = 1 }
        inside && $0 ~ "^} " name ";" { inside = 0; gone = 0 }
        inside && $0 ~ "[ *]" field "[;,\\[]" { gone = 1 }
        !gone { print }'
}
mkdir old new
cut_struct sfu_train_options device <"$SOURCE/include/sfumato.h" | cut_struct sfu_info max_degree |
    cut_struct sfu_layer dropout >old/sfumato.h
sed 's/^} sfu_train_options;/    double momentum;\n&/' "$SOURCE/include/sfumato.h" >new/sfumato.h
if cmp -s old/sfumato.h "$SOURCE/include/sfumato.h" || cmp -s new/sfumato.h "$SOURCE/include/sfumato.h"; then
    echo "the headers were not changed" && exit 1
fi

cat >program.c <<'C'
#include <sfumato.h>
#include <stdio.h>
#include <string.h>

#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            printf("line %d: %s (%s)\n", __LINE__, #what, sfu_message());                                              \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

enum { GUARD = 64 };

int main(void) {
    /* What lies behind each struct must stay as it is. */
    struct {
        sfu_train_options options;
        unsigned char behind[GUARD];
    } train;
    struct {
        sfu_layer layer;
        unsigned char behind[GUARD];
    } seen;
    unsigned char guard[GUARD];
    memset(guard, 0xa5, sizeof guard);
    memset(&train, 0xa5, sizeof train);
    memset(&seen, 0xa5, sizeof seen);
    sfu_train_options_init(&train.options);
    CHECK(train.options.size == sizeof train.options && train.options.epochs == 500);
    CHECK(memcmp(train.behind, guard, GUARD) == 0);

    sfu_dataset *dataset = NULL;
    sfu_split *split = NULL;
    sfu_net *net = NULL, *again = NULL;
    sfu_model *model = NULL;
    const sfu_info *info = NULL;
    CHECK(sfu_dataset_open(&dataset, "citation") == SFU_OK);
    CHECK(sfu_dataset_info(&info, dataset) == SFU_OK && info->nodes == 2708 && info->mean_degree > 3);
    CHECK(sfu_split_new(&split, dataset, "random:0", NULL) == SFU_OK);

    /* Layers: an array of the program's own structs. */
    sfu_layer layers[3];
    for (int i = 0; i < 3; i++) {
        sfu_layer_init(&layers[i], (sfu_layer_kind)i);
    }
    layers[1].width = 8;
    layers[1].act = SFU_ACT_RELU;
    CHECK(sfu_net_from_layers(&net, layers, 3) == SFU_OK);
    CHECK(sfu_net_parse(&again, "smooth | dense 8 relu | softmax", NULL) == SFU_OK);
    CHECK(strcmp(sfu_net_text(net), sfu_net_text(again)) == 0);
    sfu_layer_init(&seen.layer, SFU_LAYER_DENSE);
    CHECK(sfu_net_layer(&seen.layer, net, 0) && seen.layer.kind == SFU_LAYER_SMOOTH && seen.layer.times == 1);
    CHECK(memcmp(seen.behind, guard, GUARD) == 0);

    /* What is behind the options is no callback, no device and no number of threads. */
    train.options.epochs = 3;
    CHECK(sfu_train(&model, dataset, net, split, &train.options) == SFU_OK);
    CHECK(sfu_model_scores(model)->epochs == 3);
    sfu_model_free(model);

#ifdef NEWER
    train.options.momentum = 0.9;
    CHECK(sfu_train(&model, dataset, net, split, &train.options) == SFU_ERR_UNSUPPORTED);
    CHECK(strstr(sfu_message(), "sfu_train_options") != NULL);
#endif
    memset(&train, 0, sizeof train);
    CHECK(sfu_train(&model, dataset, net, split, &train.options) == SFU_ERR_ARGUMENT);
    CHECK(strstr(sfu_message(), "sfu_train_options_init") != NULL);

    printf("%zu %zu %zu\n", sizeof(sfu_train_options), sizeof(sfu_info), sizeof(sfu_layer));
    sfu_net_free(again);
    sfu_net_free(net);
    sfu_split_free(split);
    sfu_dataset_free(dataset);
    return 0;
}
C
for header in old new "$SOURCE/include"; do
    newer=$([ "$header" = new ] && echo -DNEWER || true)
    $CC $flags $newer -I"$header" program.c -L"$BUILD" -lsfumato -Wl,-rpath,"$BUILD" -o program
    ./program >"${header##*/}.txt" || { echo "with the header of $header: $(cat "${header##*/}.txt")"; exit 1; }
done
read -r old_train old_info old_layer <old.txt
read -r train info layer <include.txt
read -r new_train _ <new.txt
test "$old_train" -lt "$train" && test "$old_info" -lt "$info" && test "$old_layer" -lt "$layer" || exit 1
test "$new_train" -gt "$train" || exit 1
echo "sfu_train_options of $old_train, $train and $new_train bytes, sfu_info of $old_info and $info"
