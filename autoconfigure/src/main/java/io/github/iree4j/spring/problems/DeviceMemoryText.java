package io.github.iree4j.spring.problems;

import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.hal.pool.PoolSetStatistics;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;

/** The memory of a device in words. */
final class DeviceMemoryText {
    private DeviceMemoryText() {}

    /** Names awaited memory, for example {@code 4096 bytes of pool 'large'}; staging memory has neither bytes nor a pool. */
    static String awaited(long bytes, Collection<String> pools) {
        String named = pools.stream().map(each -> "'" + each + "'").collect(Collectors.joining(" and "));
        return (bytes == 0 ? "memory" : bytes + " bytes")
                + (pools.isEmpty() ? "" : (pools.size() == 1 ? " of pool " : " of pools ") + named);
    }

    /** Names the memory awaited by an operation. */
    static String awaited(PendingOperation operation) {
        return awaited(operation.bytes(), operation.pool().isEmpty() ? List.of() : List.of(operation.pool()));
    }

    /** Names the limit of a device and the holders of the memory. */
    static String held(PoolSetStatistics pools) {
        String holders = holders(pools);
        String committed = pools.bytesCommitted() <= pools.bytesLive()
                ? ""
                : "; calls in flight may come to hold %d bytes".formatted(pools.bytesCommitted());
        return (pools.budget() == Long.MAX_VALUE
                        ? "there is no limit, and "
                        : "the limit is %d bytes, and ".formatted(pools.budget()))
                + (holders.isEmpty() ? "nothing is held" : holders)
                + committed;
    }

    /** Names the holders of memory, with quotas; empty when nothing is held. */
    static String holders(PoolSetStatistics pools) {
        return pools.consumers().stream()
                .filter(each -> each.bytesTransient() + each.bytesPersistent() > 0)
                .map(each -> "%s holds %d bytes%s"
                        .formatted(
                                each.consumer().isEmpty() ? "the application" : "program '" + each.consumer() + "'",
                                each.bytesTransient() + each.bytesPersistent(),
                                each.quota() == Long.MAX_VALUE
                                        ? ""
                                        : " of a quota of %d bytes".formatted(each.quota())))
                .collect(Collectors.joining(", "));
    }
}
