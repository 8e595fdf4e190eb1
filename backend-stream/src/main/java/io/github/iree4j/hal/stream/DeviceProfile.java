package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.hal.UnsupportedTarget;
import io.github.iree4j.hal.spi.DevicePattern;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;

/** The answers of a device to programs: names, formats of executables, concurrency. A device runs formats of the driver that the options allow. */
final class DeviceProfile {
    private final DeviceInfo info;
    private final int queues;
    private final StreamDriver driver;
    private final Set<String> allowed; // empty for no limit

    DeviceProfile(DeviceInfo info, int queues, StreamDriver driver, Set<String> allowed) {
        this.info = info;
        this.queues = queues;
        this.driver = driver;
        this.allowed = allowed;
    }

    /** Answers as {@link Device#queryI64}. */
    OptionalLong queryI64(String category, String key) {
        return switch (category) {
            case "hal.device.id" -> flag(isNamed(key));
            case "hal.executable.format" -> flag(has(key));
            case "hal.device" -> key.equals("concurrency") ? OptionalLong.of(queues) : OptionalLong.empty();
            case "hal.dispatch" -> key.equals("concurrency") ? OptionalLong.of(1) : OptionalLong.empty();
            default -> OptionalLong.empty();
        };
    }

    private static OptionalLong flag(boolean answer) {
        return OptionalLong.of(answer ? 1 : 0);
    }

    /** Returns whether a pattern matches the device: programs use {@code DRIVER*}. */
    private boolean isNamed(String pattern) {
        return DevicePattern.matches(pattern, info.driver())
                || DevicePattern.matches(pattern, info.id())
                || driver.isNamed(pattern);
    }

    List<String> formats() {
        return driver.formats().stream()
                .filter(each -> allowed.isEmpty() || allowed.contains(each))
                .toList();
    }

    private boolean has(String format) {
        return formats().contains(format);
    }

    /**
     * Refuses a format, with a remedy.
     *
     * @throws IreeException PERMISSION_DENIED for a format that the options forbid, INCOMPATIBLE for a format foreign to the
     *     driver
     */
    void requireFormat(String format) {
        if (has(format)) {
            return;
        }
        if (driver.formats().contains(format)) {
            throw IreeException.of(
                    StatusCode.PERMISSION_DENIED,
                    "device '%s' may not run executables of format '%s', it is limited to %s; compile the program for one of these, or allow the format if you trust the program"
                            .formatted(info.id(), format, String.join(", ", new TreeSet<>(allowed))));
        }
        throw IreeException.of(
                StatusCode.INCOMPATIBLE,
                "device '%s' cannot run executables of format '%s', it runs %s; %s"
                        .formatted(info.id(), format, String.join(", ", formats()), driver.remedy(format)),
                null,
                new UnsupportedTarget(List.of(format)));
    }
}
