package io.github.iree4j;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.MissingDevice;
import io.github.iree4j.hal.UnsupportedTarget;
import io.github.iree4j.modules.hal.DeviceQueryListener;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tensor.TensorText;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Records the device queries of a program while it is loaded. Compiled programs select device and code by such queries and fail
 * with a bare status code when no answer suits them; this explains what they wanted and what is available.
 */
final class DeviceQuestions implements DeviceQueryListener {
    private static final String FORMAT = "hal.executable.format";
    private static final String DEVICE_ID = "hal.device.id";

    /** How programs say that a device is missing, in words that iree-compile generates. */
    private static final Pattern MISSING = Pattern.compile("HAL device `([^`]{1,100})` not found or unavailable");

    /** Limit of recorded queries, against hostile programs. */
    private static final int MAX_QUESTIONS = 1000;

    private final List<Device> devices;
    private final Map<String, Boolean> formats = new LinkedHashMap<>();
    private final Map<String, Boolean> deviceIds = new LinkedHashMap<>();
    private volatile boolean listening = true;

    DeviceQuestions(List<Device> devices) {
        this.devices = devices;
    }

    @Override
    public void answered(Device device, String category, String key, OptionalLong answer) {
        if (!listening || formats.size() + deviceIds.size() >= MAX_QUESTIONS) {
            return;
        }
        boolean yes = answer.orElse(0) != 0;
        switch (category) {
            case FORMAT -> formats.merge(TensorText.abbreviate(key), yes, Boolean::logicalOr);
            case DEVICE_ID -> deviceIds.merge(TensorText.abbreviate(key), yes, Boolean::logicalOr);
            default -> {}
        }
    }

    /** Stops recording: the program is loaded. */
    void stopListening() {
        listening = false;
    }

    /** Returns the failure extended by what the program asked for, if nothing of that is available; otherwise null. */
    @Nullable
    IreeException explain(IreeException failure) {
        if (failure.code() == StatusCode.NOT_FOUND && formats.isEmpty() && deviceIds.isEmpty()) {
            return null;
        }
        if (!formats.isEmpty() && !formats.containsValue(true)) {
            return new IreeException(
                    StatusCode.INCOMPATIBLE,
                    "program wants executables of format %s; %s; recompile with %s: %s"
                            .formatted(
                                    String.join(" or ", formats.keySet()), available(), remedy(), failure.getMessage()),
                    failure,
                    new UnsupportedTarget(List.copyOf(formats.keySet())));
        }
        if (!deviceIds.isEmpty() && !deviceIds.containsValue(true)) {
            return new IreeException(
                    StatusCode.INCOMPATIBLE,
                    "program wants a device that matches %s; %s; open such a device (%s) or recompile with %s: %s"
                            .formatted(
                                    String.join(" or ", deviceIds.keySet()),
                                    available(),
                                    examples(),
                                    remedy(),
                                    failure.getMessage()),
                    failure,
                    new UnsupportedTarget(List.copyOf(deviceIds.keySet())));
        }
        Matcher missing = MISSING.matcher(String.valueOf(failure.getMessage()));
        if (deviceIds.containsValue(true) && missing.find()) { // it has found another one
            return new IreeException(
                    StatusCode.INCOMPATIBLE,
                    "program is compiled for several devices and finds none for '%s' among the %d given (%s); give it one for each, in the program's order or by name, such as --device=%s=%s (iree.modules.<name>.devices, DeviceSource): %s"
                            .formatted(
                                    missing.group(1),
                                    devices.size(),
                                    devices.stream().map(Device::id).collect(Collectors.joining(", ")),
                                    missing.group(1),
                                    deviceIds.entrySet().stream()
                                            .filter(each -> !each.getValue())
                                            .map(each -> each.getKey().replace("*", ""))
                                            .findFirst()
                                            .orElse(devices.getFirst().info().driver()),
                                    TensorText.abbreviate(String.valueOf(failure.getMessage()))),
                    failure,
                    new MissingDevice(missing.group(1), devices.size()));
        }
        return null;
    }

    /** How devices are named that match what the program asked for. */
    private String examples() {
        return deviceIds.keySet().stream()
                .map(pattern -> "--device=" + pattern.replace("*", ""))
                .distinct()
                .collect(Collectors.joining(", "));
    }

    private String available() {
        StringBuilder text = new StringBuilder();
        for (Device device : devices) {
            List<String> formats = device.executableFormats();
            text.append(text.isEmpty() ? "" : ", ")
                    .append("device '")
                    .append(device.id())
                    .append("' has ")
                    .append(formats.isEmpty() ? "none" : String.join(", ", formats));
        }
        return text.toString();
    }

    private String remedy() {
        for (Device device : devices) {
            List<String> taken = device.executableFormats();
            for (String format : taken) {
                // The same code, but in a shared library for the system's loader.
                String library = format.replace("embedded-", "system-");
                if (!library.equals(format) && formats.containsKey(library)) {
                    return ("iree-compile without --iree-llvmcpu-link-embedded=false, or, if you trust the program, which may then do "
                                    + "anything, allow %s, %s (iree.executables.allowed-formats, DeviceOptions.executableFormats, "
                                    + "--executable_formats)")
                            .formatted(String.join(", ", taken), library);
                }
            }
            for (String format : taken) {
                String flags = device.compileFlags(format);
                if (!flags.isEmpty()) {
                    return "iree-compile " + flags;
                }
            }
        }
        return "the target of one of these devices (iree-compile --iree-hal-target-device=...)";
    }
}
