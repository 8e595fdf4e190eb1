package io.github.iree4j;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.UnsupportedTarget;
import io.github.iree4j.modules.hal.DeviceQueryListener;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tensor.TensorText;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Records the device queries of a program while it is loaded. Compiled programs select device and code by such queries and fail
 * with a bare status code when no answer suits them; this explains what they wanted and what is available.
 */
final class DeviceQuestions implements DeviceQueryListener {
    private static final String FORMAT = "hal.executable.format";
    private static final String DEVICE_ID = "hal.device.id";
    /** Limit of recorded queries, against hostile programs. */
    private static final int MAX_QUESTIONS = 1000;

    /** Known executable formats; those that the devices accept are reported as available. */
    private static final List<String> KNOWN_FORMATS = List.of(
            "embedded-elf-x86_64",
            "embedded-elf-x86_32",
            "embedded-elf-arm_64",
            "embedded-elf-arm_32",
            "embedded-elf-riscv_64",
            "embedded-elf-riscv_32",
            "system-elf-x86_64",
            "system-elf-arm_64",
            "vmvx-bytecode-fb",
            "vulkan-spirv-fb",
            "vulkan-spirv-bda-v1",
            "cuda-nvptx-fb",
            "rocm-hsaco-fb");

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
            List<String> formats = formatsOf(device);
            text.append(text.isEmpty() ? "" : ", ")
                    .append("device '")
                    .append(device.id())
                    .append("' has ")
                    .append(formats.isEmpty() ? "none" : String.join(", ", formats));
        }
        return text.toString();
    }

    /** The known formats that a device accepts. */
    static List<String> formatsOf(Device device) {
        return KNOWN_FORMATS.stream()
                .filter(format -> device.queryI64(FORMAT, format).orElse(0) != 0)
                .toList();
    }

    private String remedy() {
        for (Device device : devices) {
            List<String> taken = formatsOf(device);
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
                String flags = flags(format, device);
                if (flags != null) {
                    return flags;
                }
            }
        }
        return "the target of one of these devices (iree-compile --iree-hal-target-device=...)";
    }

    /** The flags of iree-compile that produce executables of a format. */
    private static @Nullable String flags(String format, Device device) {
        return switch (format) {
            case "embedded-elf-x86_64" ->
                "iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu "
                        + "--iree-llvmcpu-target-triple=x86_64-unknown-unknown-eabi-elf";
            case "embedded-elf-arm_64" ->
                "iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu "
                        + "--iree-llvmcpu-target-triple=aarch64-unknown-unknown-eabi-elf";
            case "vmvx-bytecode-fb" ->
                "iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx";
            case "vulkan-spirv-fb" -> "iree-compile --iree-hal-target-device=vulkan";
            case "cuda-nvptx-fb" ->
                "iree-compile --iree-hal-target-device=cuda --iree-cuda-target="
                        + device.info().details().getOrDefault("architecture", "sm_75");
            case "rocm-hsaco-fb" ->
                "iree-compile --iree-hal-target-device=hip --iree-rocm-target= and what rocminfo names, such as gfx942";
            default -> null;
        };
    }
}
