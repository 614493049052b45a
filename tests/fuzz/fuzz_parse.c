/* Any three strings make a layout or a refusal with a message. A layout prints strings that make the same layout again.
 *
 *     PATTERN | OPTIONS | ADDRESS */
#include "fuzz.h"
#include "tensordoor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input in;
    fuzz_open(data, size, &in);
    td_layout *layout = NULL, *again = NULL;
    td_status status = td_layout_create(in.line[0], in.line[1], in.line[2], &layout);
    REQUIRE((status == TD_OK) == (layout != NULL));
    if (status)
        REQUIRE(strncmp(td_last_error(), "layout_create: ", 15) == 0 && td_last_error()[15]);
    else {
        status =
            td_layout_create(td_layout_pattern(layout), td_layout_options(layout), td_layout_address(layout), &again);
        REQUIRE(status == TD_OK);
        REQUIRE(strcmp(td_layout_pattern(again), td_layout_pattern(layout)) == 0);
        REQUIRE(strcmp(td_layout_options(again), td_layout_options(layout)) == 0);
        REQUIRE(strcmp(td_layout_address(again), td_layout_address(layout)) == 0);
    }
    td_layout_destroy(&again);
    td_layout_destroy(&layout);
    fuzz_close(&in);
    return 0;
}
