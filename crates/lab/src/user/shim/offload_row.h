/* The columns of a row of RAID-Z. */
#ifndef ZWHY_OFFLOAD_ROW_H
#define ZWHY_OFFLOAD_ROW_H

#include "offload.h"

/* Whether the functions below can be asked. */
int offload_row_known(void);
/* While a thread is between these, it computes a row by OpenZFS, which tells where its columns are. */
void offload_watch_begins(void);
void offload_watch_ends(const void *row);

/* How many there are; also while their places are not known. */
int offload_columns(const void *row);
/* The ABD of a column, and the bytes of it that are used. */
void *offload_column(const void *row, int i);
size_t offload_column_size(const void *row, int i);
/* Memory of the thread; NULL where there is none. */
unsigned char *offload_row_memory(size_t size);

#endif
