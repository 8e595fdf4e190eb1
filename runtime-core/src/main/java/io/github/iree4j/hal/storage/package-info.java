/**
 * Storage of buffers in queue order, decided once for all backends: the memory of an operation is reserved before the
 * operation is issued, and freed after the last use of the memory.
 *
 * <p>A backend extends {@link io.github.iree4j.hal.storage.BufferStorage} and {@link
 * io.github.iree4j.hal.storage.StoredBuffer}, and reserves with {@link io.github.iree4j.hal.storage.StorageGrant}.
 */
@NotForApplications
@NullMarked
package io.github.iree4j.hal.storage;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;
