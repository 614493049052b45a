/* The pattern of a layout, "b w (ct cs) -> (b w ct) cs", as a tree of two levels: groups of terms. It holds names
 * and positions, no sizes: bind.c adds those. Every layout owns one. */
#ifndef TD_PATTERN_H
#define TD_PATTERN_H

#include "base/status.h"

#define TD_MAX_AXES 64
#define TD_MAX_GROUPS (TD_MAX_RANK + 1)
#define TD_MAX_TERMS 160

/* What the axes of a right-hand group choose. */
typedef enum td_role { TD_ROLE_BANK, TD_ROLE_WORD, TD_ROLE_LANE, TD_ROLES } td_role;

#define TD_ELLIPSIS (-1) /* in place of an axis number */

typedef struct td_term {
    int axis;      /* into td_pattern.axis, or TD_ELLIPSIS */
    uint64_t step; /* in a sliding group: what one step of the axis is worth; elsewhere 0 */
} td_term;

typedef struct td_group {
    int first, count; /* into td_pattern.term; a count of 0 is a unit group */
    bool sliding;     /* "(2*h + kh)": the axes overlap in their dimension */
    /* On the right: with two groups the first holds the word axes, with three the bank axes. One group is flat: its
     * axes are lanes of a vector that goes on over as many words as it needs. */
    td_role role;
    size_t at, length; /* in td_pattern.text */
} td_group;

typedef struct td_axis {
    char *name;
    int left_group;  /* or -1: a repeat */
    int right_group; /* -1 while parsing the left side */
} td_axis;

typedef struct td_pattern {
    char *text; /* canonical */
    int axis_count, term_count, left_count, right_count;
    int ellipsis_left;  /* the left group that is `...`, or -1 */
    int ellipsis_right; /* the right group that holds `...`, or -1 */
    td_axis axis[TD_MAX_AXES];
    td_term term[TD_MAX_TERMS];
    td_group left[TD_MAX_GROUPS];
    td_group right[TD_ROLES];
} td_pattern;

/* TD_PATTERN with a caret under the fault. On failure *out holds nothing to free. */
td_status td_pattern_parse(const char *text, td_pattern *out);
void td_pattern_free(td_pattern *pattern);

/* The axis of that name, or -1. `name` need not end at `length`. */
int td_pattern_find(const td_pattern *pattern, const char *name, size_t length);

/* Whether an axis chooses a place in the word rather than the word. */
#define TD_IS_LANE(pattern, axis_number)                                                                               \
    ((pattern)->right[(pattern)->axis[axis_number].right_group].role == TD_ROLE_LANE)

/* Appends the pattern with a caret under a group to this thread's message. */
void td_pattern_caret(const td_pattern *pattern, const td_group *group);

#endif
