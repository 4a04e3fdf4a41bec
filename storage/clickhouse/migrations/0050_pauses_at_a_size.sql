-- The size that an operator holds a pool at, with its pause.
ALTER TABLE pool_pauses ADD COLUMN IF NOT EXISTS size Nullable(UInt32) COMMENT 'that it is held at; NULL: the one in force';
