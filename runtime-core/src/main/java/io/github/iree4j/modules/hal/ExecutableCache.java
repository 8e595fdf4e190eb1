package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableLayout;
import io.github.iree4j.hal.ExecutableParams;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Executables shared between the contexts of a module object: each context of a program creates the same executables
 * from the same bytes of the same mapped file, and loading the executables is most of the cost of creating a context.
 *
 * <p>An executable is cached while a requesting context exists. Only immutable bytes are used as keys. Safe from any
 * thread.
 */
final class ExecutableCache {
    /** The identity of an executable: device, format, the constants of a module, and specialisation. */
    private record Key(
            Device device,
            String format,
            Object owner,
            long address,
            long length,
            Constants constants,
            List<ExecutableLayout> layouts) {}

    /** An array with value equality. */
    private static final class Constants {
        private final int[] values;

        Constants(int[] values) {
            this.values = values.clone();
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Constants that && Arrays.equals(values, that.values);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(values);
        }
    }

    private static final class Entry {
        final Executable executable;
        int users;

        Entry(Executable executable) {
            this.executable = executable;
        }
    }

    private final Map<Key, Entry> entries = new HashMap<>();

    User newUser() {
        return new User();
    }

    /** A context. Closing the context releases its executables; executables without other users are freed. */
    final class User implements AutoCloseable {
        private final Set<Key> used = new HashSet<>();

        /**
         * Returns an executable, created now or earlier by another context.
         *
         * @return the executable, retained for the caller
         */
        Executable get(Device device, ExecutableParams params) {
            Object owner = params.owner();
            if (owner == null || !params.data().isNative()) {
                return device.createExecutable(params);
            }
            Key key = new Key(
                    device,
                    params.format(),
                    owner,
                    params.data().address(),
                    params.data().byteSize(),
                    new Constants(params.constants()),
                    params.layouts());
            // Under the lock on purpose: contexts created concurrently should wait for a single load rather than each
            // repeat the load.
            synchronized (entries) {
                Entry entry = entries.get(key);
                if (entry == null) {
                    entry = new Entry(device.createExecutable(params));
                    entries.put(key, entry);
                }
                if (used.add(key)) {
                    entry.users++;
                }
                entry.executable.retain();
                return entry.executable;
            }
        }

        @Override
        public void close() {
            synchronized (entries) {
                for (Key key : used) {
                    Entry entry = entries.get(key);
                    if (entry != null && --entry.users == 0) {
                        entries.remove(key);
                        entry.executable.close();
                    }
                }
                used.clear();
            }
        }
    }
}
