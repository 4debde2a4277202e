/** The number of the schema that this program works with: how many migrations there are (a test compares). Kept apart so that a start loads no TypeORM. */
export const SCHEMA_VERSION = 1;
