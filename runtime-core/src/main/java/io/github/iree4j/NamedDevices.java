package io.github.iree4j;

import io.github.iree4j.hal.Device;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;

/**
 * The open devices of a runtime, and what its options call them.
 *
 * @param names one of each device
 * @param all in the order of the options
 */
record NamedDevices(List<String> names, List<Device> all) {
    /** The name of a device; its id when it is not one of these. */
    String nameOf(Device device) {
        int index = all.indexOf(device);
        return index < 0 ? device.id() : names.get(index);
    }

    /** Those with the given names, in that order; all without names. */
    List<Device> select(List<String> wanted) {
        return wanted.isEmpty() ? all : wanted.stream().map(this::find).toList();
    }

    /**
     * The one with a name or an id.
     *
     * @throws IreeException NOT_FOUND when there is none, naming those there are
     */
    Device find(String name) {
        int index = names.indexOf(name);
        if (index >= 0) {
            return all.get(index);
        }
        return all.stream()
                .filter(device -> device.id().equals(name))
                .findFirst()
                .orElseThrow(() -> new IreeException(
                        StatusCode.NOT_FOUND,
                        "the runtime was not opened with device '%s' but with %s".formatted(name, names)));
    }

    /** Bytes of their memory in use. */
    long bytesLive() {
        return all.stream()
                .mapToLong(device -> device.allocator().statistics().bytesLive())
                .sum();
    }
}
