package io.github.iree4j.nativeaccess.vulkan;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.lifetime.UseGuard;
import io.github.iree4j.nativeaccess.NativeError;
import io.github.iree4j.nativeaccess.NativeLibrary;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The Vulkan library of this machine, with an instance and the devices found at opening. Safe from any thread. Open
 * devices hold a reference to the library.
 */
public final class VulkanApi extends Resource {
    /** System property naming the library to open instead of {@code libvulkan.so.1}: a file, or a name resolved by the dynamic linker. */
    public static final String LIBRARY = "iree.vulkan.library";

    /** Environment variable with the same meaning. */
    public static final String LIBRARY_VARIABLE = "IREE4J_VULKAN_LIBRARY";

    /** The kinds of objects with counted live instances, in the order of the counts. */
    public static final List<String> KINDS = List.of(
            "INSTANCES",
            "DEVICES",
            "MEMORY",
            "BUFFERS",
            "SEMAPHORES",
            "SHADER_MODULES",
            "SET_LAYOUTS",
            "PIPELINE_LAYOUTS",
            "PIPELINES",
            "PIPELINE_CACHES",
            "DESCRIPTOR_POOLS",
            "COMMAND_POOLS");

    private static final int KEPT_MESSAGES = 64;
    private static final int MESSAGE_SIZE = 1024;

    private final long handle;
    private final int flags;
    private final int version;
    private final List<VulkanDeviceProperties> devices;
    private final UseGuard guard;

    private VulkanApi(long handle) {
        this.handle = handle;
        this.flags = VulkanShim.flags(handle);
        this.version = VulkanShim.version(handle);
        this.devices = readDevices(handle);
        this.guard = UseGuard.of(this::describe, () -> VulkanShim.close(handle));
    }

    /**
     * Opens the library and enumerates the devices.
     *
     * @param library file or name of the library; null for the value of {@value #LIBRARY} or
     *     {@value #LIBRARY_VARIABLE}, or else {@code libvulkan.so.1}
     * @param validation whether the Khronos validation layer, if installed, checks calls
     * @return the library; the caller closes it. Having no devices is not a failure
     * @throws IreeException UNAVAILABLE when there is no such library, naming the library; when a symbol is missing,
     *     naming the symbol; when the library cannot create an instance; or without the native library of this runtime
     */
    public static VulkanApi open(@Nullable String library, boolean validation) {
        NativeLibrary.bind(VulkanShim.class);
        String name = library != null ? library : System.getProperty(LIBRARY, System.getenv(LIBRARY_VARIABLE));
        NativeError error = new NativeError();
        try (Arena arena = Arena.ofConfined()) {
            long text = name == null || name.isBlank()
                    ? 0
                    : arena.allocateFrom(name, StandardCharsets.UTF_8).address();
            long handle = VulkanShim.open(text, validation ? VulkanShim.VALIDATION : 0, error.address());
            if (handle == 0) {
                throw error.toException();
            }
            try {
                return new VulkanApi(handle);
            } catch (Throwable e) {
                VulkanShim.close(handle);
                throw e;
            }
        }
    }

    private static List<VulkanDeviceProperties> readDevices(long handle) {
        NativeError error = new NativeError();
        List<VulkanDeviceProperties> devices = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment info = arena.allocate(VulkanShim.DEVICE_INFO_SIZE, 8);
            int count = VulkanShim.deviceCount(handle);
            for (int i = 0; i < count; i++) {
                int status =
                        VulkanShim.deviceQuery(handle, i, info.address(), VulkanShim.DEVICE_INFO_SIZE, error.address());
                if (status != 0) {
                    throw error.toException(status);
                }
                devices.add(VulkanDeviceProperties.read(i, info));
            }
        }
        return List.copyOf(devices);
    }

    /**
     * Returns the devices, in the library's order.
     *
     * @return the devices found when the library was opened; may be empty
     */
    public List<VulkanDeviceProperties> devices() {
        return devices;
    }

    /**
     * Returns the version of the library.
     *
     * @return the version in Vulkan's packed form
     */
    public int version() {
        return version;
    }

    /**
     * Returns whether calls are validated.
     *
     * @return false also when validation was requested but the layer is not installed (package {@code vulkan-validationlayers})
     */
    public boolean validates() {
        return (flags & VulkanShim.VALIDATION) != 0;
    }

    /**
     * Returns whether validation messages are collected.
     *
     * @return true if {@link #validationMessages} counts messages
     */
    public boolean collectsMessages() {
        return (flags & VulkanShim.DEBUG_UTILS) != 0;
    }

    /**
     * Opens a device.
     *
     * @param index the device's {@link VulkanDeviceProperties#index}
     * @param request the device's queues and features
     * @return the device; the caller closes it
     * @throws IreeException INCOMPATIBLE when a required feature is missing, naming the feature; OUT_OF_RANGE for an
     *     unknown device, family or queue; the driver's error otherwise; FAILED_PRECONDITION when closed
     */
    public VulkanHandle openDevice(int index, VulkanDeviceRequest request) {
        if (index < 0 || index >= devices.size()) {
            throw IreeException.of(StatusCode.OUT_OF_RANGE, "Vulkan device %d of %d".formatted(index, devices.size()));
        }
        int[] families =
                request.queueFamilies().stream().mapToInt(Integer::intValue).toArray();
        NativeError error = new NativeError();
        retain(); // for the device
        long device = 0;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment words = arena.allocate(4L * families.length + 4, 4);
            MemorySegment.copy(families, 0, words, ValueLayout.JAVA_INT, 0, families.length);
            device = VulkanShim.deviceOpen(
                    handle, index, words.address(), families.length, request.featureBits(), error.address());
            if (device == 0) {
                throw error.toException();
            }
        } finally {
            if (device == 0) {
                release();
            }
        }
        return new VulkanHandle(this, devices.get(index), request, device);
    }

    /**
     * Returns the number of validation messages since the library was opened.
     *
     * @return 0 when validation is off
     */
    public long validationMessages() {
        guard.enter();
        try {
            return VulkanShim.messageCount(handle);
        } finally {
            guard.exit();
        }
    }

    /**
     * Returns the texts of the latest validation messages.
     *
     * @return up to 64 texts, oldest first
     */
    public List<String> lastValidationMessages() {
        guard.enter();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(MESSAGE_SIZE);
            long count = VulkanShim.messageCount(handle);
            List<String> messages = new ArrayList<>();
            for (long i = Math.max(0, count - KEPT_MESSAGES); i < count; i++) {
                int length = VulkanShim.message(handle, i, out.address(), MESSAGE_SIZE);
                if (length > 0) {
                    messages.add(
                            new String(out.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8));
                }
            }
            return messages;
        } finally {
            guard.exit();
        }
    }

    /**
     * Returns how many Vulkan objects of each of {@link #KINDS} are live in this process.
     *
     * @return the counts; all 0 when everything is closed
     */
    public static long[] liveObjects() {
        NativeLibrary.bind(VulkanShim.class);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG, KINDS.size());
            VulkanShim.liveObjects(out.address());
            return out.toArray(ValueLayout.JAVA_LONG);
        }
    }

    @Override
    protected String describe() {
        return "Vulkan library";
    }

    @Override
    protected void destroy() {
        guard.close();
    }
}
