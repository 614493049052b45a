/* A layout bound to a scene, for explain.c and picture.c: where a word lies and what each of its lanes holds, one at
 * a time. It moves no data. Refuses what a load would refuse. */
#ifndef TD_VIEW_H
#define TD_VIEW_H

#include "plan/passes.h"

typedef struct td_view {
    td_plan_request request;
    td_shape shape;
    char dtype_name[2][TD_DTYPE_NAME_BYTES]; /* of the tensor and of the memory */
    td_bound bound;                          /* axes as the pattern has them */
    td_bound cut;                            /* the same with a lane axis cut by beats */
    td_lanes lanes;
    td_words words;
    td_plan *plan;
    uint64_t beats;      /* words of a vector; a flat layout is one vector, its first word `low` */
    uint64_t vectors;    /* over the bank axes and the word axes */
    uint64_t word_count; /* distinct words that a load writes */
    uint64_t bank_count; /* banks up to the highest one in use */
    uint64_t low, high;  /* the least and the greatest address */
} td_view;

/* What stands in a lane. A lane that has an address of its own is elsewhere in all vectors but one. */
typedef enum td_cell { TD_CELL_DATA, TD_CELL_PAD, TD_CELL_CLIPPED, TD_CELL_ELSEWHERE } td_cell;

td_status td_view_open(const td_layout *layout, const td_scene *scene, td_view **out);
void td_view_close(td_view **view);

/* The place of vector `number`, counted over the bank axes and the word axes. */
td_status td_view_place(const td_view *view, uint64_t number, uint64_t *bank, uint64_t *address);

/* A lane of a vector: the step of every bound axis in at[], and the tensor coordinate where there is one. */
td_cell td_view_lane(const td_view *view, uint64_t number, uint64_t lane, uint64_t *at, td_shape *coordinate);

/* False where tail=clip leaves nothing to write in any lane of the vector. */
bool td_view_is_written(const td_view *view, uint64_t number);

/* The pattern's name of a bound axis. Those of `...` have none and are called ...0, ...1, which is written into `text`,
 * of TD_AXIS_NAME_BYTES. */
#define TD_AXIS_NAME_BYTES 16
const char *td_view_axis_name(const td_view *view, int axis, char *text);

#endif
