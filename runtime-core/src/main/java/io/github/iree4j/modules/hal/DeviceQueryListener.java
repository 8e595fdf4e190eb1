package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.Device;
import java.util.OptionalLong;

/**
 * Receives the device queries of programs. A program without a suitable device or code variant merely fails in the
 * initialiser; the queries show a listener the program's needs. Called on the thread running the program.
 */
@FunctionalInterface
public interface DeviceQueryListener {
    /**
     * Called for each query with the answer.
     *
     * @param device the queried device
     * @param category for example {@code hal.executable.format}
     * @param key for example {@code embedded-elf-x86_64}
     * @param answer the answer; empty when the device does not know the query
     */
    void answered(Device device, String category, String key, OptionalLong answer);
}
