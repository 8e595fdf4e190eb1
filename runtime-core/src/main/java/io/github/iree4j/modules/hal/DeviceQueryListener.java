package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.Device;
import java.util.OptionalLong;

/**
 * Hears what programs ask of devices. A program that finds no device, or no variant of its code that fits, merely fails in its
 * initialiser; whoever heard its questions can say what it was looking for. Called on the thread that runs the program.
 */
@FunctionalInterface
public interface DeviceQueryListener {
    /**
     * Takes one question and its answer.
     *
     * @param device the device asked
     * @param category for example {@code hal.executable.format}
     * @param key for example {@code embedded-elf-x86_64}
     * @param answer what the device said; empty when it does not know the question
     */
    void answered(Device device, String category, String key, OptionalLong answer);
}
