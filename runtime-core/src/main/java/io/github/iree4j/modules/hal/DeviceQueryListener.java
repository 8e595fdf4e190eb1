package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.Device;
import java.util.OptionalLong;

/**
 * Receives the device queries of programs. A program that finds no suitable device or code variant merely fails in its initialiser; from
 * its queries a listener can tell what it needs. Called on the thread that runs the program.
 */
@FunctionalInterface
public interface DeviceQueryListener {
    /**
     * Called for each query with its answer.
     *
     * @param device the queried device
     * @param category for example {@code hal.executable.format}
     * @param key for example {@code embedded-elf-x86_64}
     * @param answer the answer; empty when the device does not know the query
     */
    void answered(Device device, String category, String key, OptionalLong answer);
}
