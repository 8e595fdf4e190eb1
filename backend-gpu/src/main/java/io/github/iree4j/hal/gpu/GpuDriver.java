package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.HostRegistrations;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.nativeaccess.gpu.GpuApi;
import io.github.iree4j.nativeaccess.gpu.GpuCollectives;
import io.github.iree4j.nativeaccess.gpu.GpuDevice;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import io.github.iree4j.nativeaccess.gpu.GpuProperties;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A library of CUDA or HIP and its devices, or the reason for having none. Safe from any thread. */
final class GpuDriver {
    /** Streams of a device without a queue count in the options: a stream to compute, and a stream to compute or copy meanwhile. */
    private static final int LANES = 2;

    /** Maximum number of streams of a device; more queues share the streams. */
    private static final int MAXIMUM_LANES = 16;

    /** Attendance of threads if the processors suffice for all lanes, a caller, and the thread ending operations. */
    static final long LINGER_BY_PROCESSORS = -1;

    private final GpuKind kind;
    private final String name;
    private final @Nullable GpuApi api; // null without a library
    private final List<GpuProperties> devices;
    private final Availability availability;
    private final Duration closeLimit; // of the devices
    private final int window;
    private final long linger;
    private final HostRegistrations registrations = new HostRegistrations();
    private final @Nullable String collectives; // path of the library of collectives; null for the usual library
    private @Nullable GpuLibrary opened; // guarded by this; the library of collectives, once opened

    /**
     * Opens a library. Never fails: {@link #availability} reports an unusable library.
     *
     * @param library the path; null for the usual library
     */
    GpuDriver(GpuKind kind, @Nullable String library) {
        this(kind, library, null, StreamDevice.CLOSE_LIMIT, GpuLane.WINDOW, LINGER_BY_PROCESSORS);
    }

    /**
     * Opens a library. Never fails, as above.
     *
     * @param collectives path of the library of collectives; null for the usual library
     * @param closeLimit limit of the wait for hardware when closing a device
     * @param window limit of commands in flight on each stream, for threads other than the lane's own to give more
     * @param linger nanoseconds of the attendance of a lane's thread after the last work; 0 for no attendance; or
     *     {@link #LINGER_BY_PROCESSORS}
     */
    GpuDriver(
            GpuKind kind,
            @Nullable String library,
            @Nullable String collectives,
            Duration closeLimit,
            int window,
            long linger) {
        this.kind = kind;
        this.collectives = collectives;
        this.name = name(kind);
        this.closeLimit = closeLimit;
        this.window = window;
        this.linger = linger;
        GpuApi opened = null;
        List<GpuProperties> found = List.of();
        Availability answer;
        try {
            opened = GpuApi.open(kind, library);
            found = opened.devices();
            answer = found.isEmpty() ? Availability.unavailable(MissingGpus.explain(kind)) : Availability.AVAILABLE;
        } catch (IreeException e) {
            answer = Availability.unavailable(String.valueOf(e.getMessage()));
        }
        this.api = opened;
        this.devices = found;
        this.availability = answer;
    }

    private long linger(int lanes) {
        boolean suffice = Runtime.getRuntime().availableProcessors() >= lanes + 2;
        return linger != LINGER_BY_PROCESSORS ? linger : suffice ? GpuLane.LINGER_NANOS : 0;
    }

    String name() {
        return name;
    }

    static String name(GpuKind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }

    private synchronized GpuLibrary collectives() {
        GpuLibrary own = opened;
        if (own == null) {
            own = new GpuLibrary(GpuCollectives.open(kind, collectives), name);
            opened = own;
        }
        return own;
    }

    Availability availability() {
        return availability;
    }

    List<DeviceInfo> devices() {
        return devices.stream().map(this::info).toList();
    }

    /**
     * Opens a device.
     *
     * @param id {@code cuda} for the first; {@code cuda:1}, {@code 1}, or a UUID in place of the number, for a specific
     *     device
     */
    StreamDevice open(String id, DeviceOptions options) {
        GpuApi opened = api;
        if (opened == null || !availability.available()) {
            throw IreeException.of(
                    StatusCode.UNAVAILABLE, "driver '%s' is not available: %s".formatted(name, availability.reason()));
        }
        GpuProperties properties = find(id);
        DeviceInfo info = info(properties);
        int lanes = Math.min(options.queueCount() == 0 ? LANES : options.queueCount(), MAXIMUM_LANES);
        GpuDevice device = opened.openDevice(properties.index());
        GpuHardware hardware = null;
        try {
            hardware = new GpuHardware(
                    info.id(),
                    device,
                    registrations,
                    this::collectives,
                    memoryOfHost(),
                    options,
                    lanes,
                    window,
                    linger(lanes));
            return new StreamDevice(info, options, hardware, closeLimit);
        } catch (RuntimeException | Error e) {
            if (hardware != null) {
                hardware.close();
            } else {
                device.close();
            }
            throw e;
        }
    }

    /** Returns the amount of host memory for pinning: drivers refuse more than about half, and others need the rest. */
    private static long memoryOfHost() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean system
                ? system.getTotalMemorySize() / 2
                : Long.MAX_VALUE;
    }

    private GpuProperties find(String id) {
        if (id.equals(name)) {
            return devices.getFirst();
        }
        String wanted = id.startsWith(name + ":") ? id.substring(name.length() + 1) : id;
        for (GpuProperties each : devices) {
            if (wanted.equals(Integer.toString(each.index()))) {
                return each;
            }
        }
        String uuid = wanted.replaceFirst("^(GPU|MIG)-", "")
                .replace("-", "")
                .toLowerCase(Locale.ROOT); // nvidia-smi has these prefixes
        List<GpuProperties> found =
                devices.stream().filter(each -> uuid.equals(each.uuid())).toList();
        if (found.size() > 1) { // instances of the same device, or devices without a UUID
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "'%s' is the UUID of %d devices of driver '%s': %s; name one of them by its number, or update the driver"
                            .formatted(id, found.size(), name, names(found, each -> "")));
        }
        if (found.isEmpty()) {
            throw IreeException.of(
                    StatusCode.NOT_FOUND,
                    "driver '%s' has no device '%s'; it has: %s"
                            .formatted(name, id, names(devices, each -> " (" + each.name() + ")")));
        }
        return found.getFirst();
    }

    private String names(List<GpuProperties> some, Function<GpuProperties, String> more) {
        return some.stream()
                .map(each -> name + ":" + each.index() + more.apply(each))
                .collect(Collectors.joining(", "));
    }

    private DeviceInfo info(GpuProperties properties) {
        Map<String, String> details = new LinkedHashMap<>();
        details.put("uuid", properties.uuid());
        details.put("api", version());
        details.put(
                "architecture",
                (kind == GpuKind.CUDA ? "sm_" : "")
                        + properties.major()
                        + (kind == GpuKind.CUDA ? "" : ".")
                        + properties.minor());
        details.put("memory", (properties.memory() >> 20) + " MiB");
        details.put("multiprocessors", Integer.toString(properties.multiprocessors()));
        details.put("warp", Integer.toString(properties.warpSize()));
        details.put("shared memory", (properties.maxSharedBytes() >> 10) + " KiB a workgroup");
        return new DeviceInfo(name, name + ":" + properties.index(), properties.name(), details);
    }

    private String version() {
        GpuApi opened = api;
        int version = opened == null ? 0 : opened.version();
        return kind == GpuKind.CUDA
                ? version / 1000 + "." + version % 1000 / 10
                : version / 10_000_000 + "." + version / 100_000 % 100 + "." + version % 100_000;
    }
}
