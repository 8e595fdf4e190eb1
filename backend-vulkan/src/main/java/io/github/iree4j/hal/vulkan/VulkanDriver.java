package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.nativeaccess.vulkan.VulkanApi;
import io.github.iree4j.nativeaccess.vulkan.VulkanDeviceProperties;
import io.github.iree4j.nativeaccess.vulkan.VulkanDeviceProperties.QueueFamily;
import io.github.iree4j.nativeaccess.vulkan.VulkanDeviceRequest;
import io.github.iree4j.nativeaccess.vulkan.VulkanFeature;
import io.github.iree4j.nativeaccess.vulkan.VulkanHandle;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A Vulkan library and its devices, or the reason for the absence of devices. Safe from any thread. */
final class VulkanDriver {
    static final String NAME = "vulkan";

    /** Capability bits of a queue family, as numbered by Vulkan. */
    private static final int GRAPHICS = 1;

    private static final int COMPUTE = 2;
    private static final int TRANSFER = 4;

    private static final int MINIMUM_VERSION = 1 << 22 | 2 << 12;

    private static final List<VulkanFeature> NEEDED =
            List.of(VulkanFeature.TIMELINE_SEMAPHORE, VulkanFeature.SYNCHRONIZATION_2);

    /** Maximum number of queues opened on a device. */
    private static final int MAXIMUM_QUEUES = 64;

    private final @Nullable VulkanApi api; // null without a library
    private final @Nullable ValidationLog messages;
    private final List<VulkanDeviceProperties> devices;
    private final Availability availability;
    private final Duration closeLimit; // of the devices
    private long complaints; // validation messages already taken; guarded by this

    /** The system's library, opened on first use, for the lifetime of the process. */
    private static final class OfProcess {
        private static final VulkanDriver INSTANCE =
                new VulkanDriver(null, Boolean.getBoolean("iree4j.vulkan.validation"));
    }

    static VulkanDriver ofProcess() {
        return OfProcess.INSTANCE;
    }

    /**
     * Opens a library. Never fails: {@link #availability} returns the reason why the library cannot be used.
     *
     * @param library path of the library; null for the system's library
     * @param validation whether to enable the validation layers
     */
    VulkanDriver(@Nullable String library, boolean validation) {
        this(library, validation, StreamDevice.CLOSE_LIMIT);
    }

    /**
     * Opens a library with another limit on closing its devices.
     *
     * @param closeLimit how long closing a device waits for work of the hardware
     */
    VulkanDriver(@Nullable String library, boolean validation, Duration closeLimit) {
        this.closeLimit = closeLimit;
        VulkanApi opened = null;
        List<VulkanDeviceProperties> found = List.of();
        Availability answer;
        try {
            opened = VulkanApi.open(library, validation);
            found = opened.devices();
            answer = judge(found);
        } catch (IreeException e) {
            answer = Availability.unavailable(String.valueOf(e.getMessage()));
        }
        this.api = opened;
        this.messages = opened == null ? null : new ValidationLog(opened, validation);
        this.devices = found;
        this.availability = answer;
    }

    private static Availability judge(List<VulkanDeviceProperties> found) {
        if (found.isEmpty()) {
            return Availability.unavailable(MissingDevices.explain());
        }
        for (VulkanDeviceProperties each : found) {
            if (missing(each) == null) {
                return Availability.AVAILABLE;
            }
        }
        return Availability.unavailable(found.stream()
                .map(each -> "device '" + each.name() + "' " + missing(each))
                .collect(Collectors.joining("; ")));
    }

    /** Returns the validation messages since the last call; empty when validation is off. */
    synchronized List<String> takeValidationMessages() {
        VulkanApi opened = api;
        if (opened == null) {
            return List.of();
        }
        List<String> last = opened.lastValidationMessages();
        long all = opened.validationMessages();
        int recent = (int) Math.min(all - complaints, last.size());
        complaints = all;
        return last.subList(last.size() - recent, last.size());
    }

    /** Returns whether validation is enabled. */
    boolean validates() {
        VulkanApi opened = api;
        return opened != null && opened.validates();
    }

    Availability availability() {
        return availability;
    }

    List<DeviceInfo> devices() {
        return availability.available()
                ? devices.stream().map(VulkanDriver::info).toList()
                : List.of();
    }

    /** Returns the required capability missing in a device; null when nothing is missing. */
    private static @Nullable String missing(VulkanDeviceProperties properties) {
        if (Integer.compareUnsigned(properties.apiVersion(), MINIMUM_VERSION) < 0) {
            return "has Vulkan " + properties.apiVersionText() + "; 1.2 is needed";
        }
        for (VulkanFeature needed : NEEDED) {
            if (!properties.has(needed)) {
                return "lacks the feature " + needed.specName();
            }
        }
        return families(properties, 1)[0] < 0 ? "has no queue that computes" : null;
    }

    // ---- Selection.

    /**
     * Opens a device.
     *
     * @param id {@code vulkan} for the first device, a software device only when there is no other; {@code vulkan:1},
     *     {@code 1}, or a UUID in place of the number, for a specific device
     */
    StreamDevice open(String id, DeviceOptions options) {
        VulkanApi opened = api;
        ValidationLog log = messages;
        if (opened == null || log == null || !availability.available()) {
            throw IreeException.of(
                    StatusCode.UNAVAILABLE, "driver 'vulkan' is not available: " + availability.reason());
        }
        VulkanDeviceProperties properties = find(id);
        String lacking = missing(properties);
        if (lacking != null) {
            throw IreeException.of(
                    StatusCode.UNAVAILABLE,
                    "device 'vulkan:%d' ('%s') %s".formatted(properties.index(), properties.name(), lacking));
        }
        int[] families = families(properties, options.queueCount() == 0 ? MAXIMUM_QUEUES : options.queueCount());
        DeviceInfo info = info(properties);
        VulkanHandle handle = opened.openDevice(
                properties.index(),
                VulkanDeviceRequest.of(Arrays.stream(families).boxed().toList()));
        VulkanHardware hardware = null;
        try {
            hardware = new VulkanHardware(info.id(), handle, options, log);
            return new StreamDevice(info, options, hardware, closeLimit);
        } catch (RuntimeException | Error e) {
            if (hardware != null) {
                hardware.close();
            } else {
                handle.close();
            }
            throw e;
        }
    }

    private VulkanDeviceProperties find(String id) {
        if (id.equals(NAME)) {
            return devices.stream()
                    .filter(each -> !isSoftware(each))
                    .findFirst()
                    .orElseGet(devices::getFirst); // all are software devices
        }
        String wanted = id.startsWith(NAME + ":") ? id.substring(NAME.length() + 1) : id;
        String uuid = uuid(wanted);
        for (VulkanDeviceProperties each : devices) {
            if (wanted.equals(Integer.toString(each.index())) || uuid.equals(uuid(each.deviceUuid()))) {
                return each;
            }
        }
        throw IreeException.of(
                StatusCode.NOT_FOUND,
                "driver 'vulkan' has no device '%s'; it has: %s"
                        .formatted(
                                id,
                                devices.stream()
                                        .map(each -> "vulkan:" + each.index() + " (" + each.name() + ")")
                                        .collect(Collectors.joining(", "))));
    }

    private static String uuid(String text) {
        return text.replace("-", "").toLowerCase(Locale.ROOT);
    }

    private static boolean isSoftware(VulkanDeviceProperties properties) {
        return properties.type() == VulkanDeviceProperties.Type.CPU;
    }

    /** Returns the families of the queues to open, compute queues first, then copy-only queues; {-1} without a compute queue. */
    private static int[] families(VulkanDeviceProperties properties, int limit) {
        List<Integer> all = new ArrayList<>();
        List<QueueFamily> families = properties.queueFamilies();
        for (int i = 0; i < families.size(); i++) {
            if ((families.get(i).flags() & COMPUTE) != 0) {
                add(all, i, families.get(i).queueCount());
            }
        }
        if (all.isEmpty()) {
            return new int[] {-1};
        }
        for (int i = 0; i < families.size(); i++) {
            long flags = families.get(i).flags();
            if ((flags & TRANSFER) != 0 && (flags & (COMPUTE | GRAPHICS)) == 0) {
                add(all, i, families.get(i).queueCount());
            }
        }
        return all.stream()
                .mapToInt(Integer::intValue)
                .limit(Math.min(limit, MAXIMUM_QUEUES))
                .toArray();
    }

    private static void add(List<Integer> all, int family, int count) {
        for (int i = 0; i < count; i++) {
            all.add(family);
        }
    }

    // ---- Description.

    private static DeviceInfo info(VulkanDeviceProperties properties) {
        return new DeviceInfo(NAME, NAME + ":" + properties.index(), properties.name(), details(properties));
    }

    private static Map<String, String> details(VulkanDeviceProperties properties) {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("type", properties.type().name().toLowerCase(Locale.ROOT).replace('_', ' '));
        all.put("uuid", properties.deviceUuid());
        all.put("api", properties.apiVersionText());
        all.put("driver", properties.driverName() + " " + properties.driverInfo());
        String lacking = missing(properties);
        if (lacking != null) {
            all.put("unusable", lacking);
        }
        all.put(
                "heaps",
                properties.heaps().stream()
                        .map(heap -> (heap.size() >> 20) + " MiB" + (heap.deviceLocal() ? " device-local" : ""))
                        .collect(Collectors.joining(", ")));
        all.put(
                "queues",
                properties.queueFamilies().stream().map(VulkanDriver::describe).collect(Collectors.joining(", ")));
        all.put("limits", properties.limits().toString());
        all.put(
                "features",
                VulkanFeature.of(properties.features()).stream()
                        .map(VulkanFeature::specName)
                        .collect(Collectors.joining(", ")));
        return all;
    }

    private static String describe(QueueFamily family) {
        List<String> can = new ArrayList<>();
        if ((family.flags() & GRAPHICS) != 0) {
            can.add("graphics");
        }
        if ((family.flags() & COMPUTE) != 0) {
            can.add("compute");
        }
        if ((family.flags() & TRANSFER) != 0) {
            can.add("transfer");
        }
        return family.queueCount() + " for " + String.join(" and ", can);
    }
}
