/* Any bytes are a tensor file or a refusal with a message. Of a file, every element can be read, and what has several
 * tensors opens or refuses each by its name. FUZZ_FORMAT is the format under test. */
#include "file.h"
#include "tensordoor.h"

static void open_one(const char *name, const char *dtype)
{
    td_tensor *tensor = NULL;
    td_status status = td_tensor_open(name, dtype, &tensor);
    REQUIRE((status == TD_OK) == (tensor != NULL));
    if (status != TD_OK) {
        REQUIRE(strncmp(td_last_error(), "tensor_open \"", 13) == 0);
        return;
    }
    const unsigned char *bytes = td_tensor_data_const(tensor);
    unsigned char sum = 0;
    for (uint64_t i = 0; i < td_tensor_elems(tensor) * td_tensor_elem_bytes(tensor); i++)
        sum = (unsigned char)(sum ^ bytes[i]);
    uint64_t bits = sum;
    REQUIRE(td_tensor_get_bits(tensor, td_tensor_elems(tensor) - 1, &bits) == TD_OK);
    td_tensor_destroy(&tensor);
}

/* As parts: a refusal with a message, or parts that unpack. */
static void open_parts(const char *name, const char *packing)
{
    td_parts *parts = NULL;
    td_tensor *values = NULL;
    const td_status status = td_parts_open(name, packing, &parts);
    REQUIRE((status == TD_OK) == (parts != NULL));
    if (status != TD_OK)
        REQUIRE(strncmp(td_last_error(), "parts_open \"", 12) == 0);
    else
        REQUIRE(td_parts_unpack(parts, NULL, &values) == TD_OK);
    td_tensor_destroy(&values);
    td_parts_destroy(&parts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[64];
    char **members = NULL;
    size_t count = 0;
    int fd = fuzz_file_open(data, size, FUZZ_FORMAT, name, sizeof name);
    open_one(name, NULL);
    open_one(name, "i4");
    open_one(name, "bf16");
    if (td_file_kind(name) & TD_USE_MEMBERS && td_tensor_members(name, &members, &count) == TD_OK) {
        for (size_t i = 0; i < count && i < 8; i++) {
            size_t room = strlen(name) + strlen(members[i]) + 2;
            char *one = malloc(room);
            REQUIRE(one);
            snprintf(one, room, "%s:%s", name, members[i]);
            open_one(one, NULL);
            open_one(one, "u8");
            open_parts(one, NULL);
            if (strstr(one, "_blocks")) {
                one[strlen(one) - strlen("_blocks")] = '\0';
                open_parts(one, "mxfp4");
            } else if (strstr(one, ".qweight")) {
                one[strlen(one) - strlen(".qweight")] = '\0';
                open_parts(one, "gptq");
                open_parts(one, "gptq bits=3 version=2");
                open_parts(one, "awq");
            }
            free(one);
        }
        td_free(members);
    }
    fuzz_file_close(fd);
    return 0;
}
