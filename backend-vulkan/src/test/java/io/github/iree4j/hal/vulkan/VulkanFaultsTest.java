package io.github.iree4j.hal.vulkan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.hal.stream.StreamDevices;
import io.github.iree4j.nativeaccess.vulkan.FakeVulkan;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Faults around a device are reported with their cause, hang nothing and leak nothing. */
@ExtendWith(NothingWrong.class)
class VulkanFaultsTest {
    @TempDir
    private Path directory;

    // ---- Drivers.

    @Test
    void aMissingLibraryIsNamed() {
        VulkanDriver driver = new VulkanDriver("/no/such/libvulkan.so.1", false);
        assertThat(driver.availability().available()).isFalse();
        assertThat(driver.availability().reason()).contains("/no/such/libvulkan.so.1");
        assertThat(driver.devices()).isEmpty();
        assertFails(
                StatusCode.UNAVAILABLE,
                "driver 'vulkan' is not available",
                () -> driver.open("vulkan", DeviceOptions.DEFAULTS));
    }

    @Test
    void anInvalidLibraryIsNamed() throws IOException {
        Path file = Files.writeString(directory.resolve("libvulkan.so.1"), "not a library");
        VulkanDriver driver = new VulkanDriver(file.toString(), false);
        assertThat(driver.availability().available()).isFalse();
        assertThat(driver.availability().reason()).contains(file.toString());
    }

    @Test
    void aLoaderWithoutDriversSaysSo() throws Exception {
        VulkanDrivers.driver();
        String said =
                probe(Map.of("VK_DRIVER_FILES", "/dev/null", "VK_ICD_FILENAMES", "/dev/null"), List.of(), "vulkan");
        assertThat(said).contains("available=false").contains("driver").doesNotContain("device vulkan:");
        assertThat(said).contains("failed vulkan: UNAVAILABLE").contains("over");
    }

    /** The same driver in two files counts as two drivers for the loader. */
    @Test
    void devicesOfTwoDriversAreToldApartAndBothWork() throws Exception {
        VulkanDrivers.driver();
        Path manifest = softwareDriver();
        String text = Files.readString(manifest);
        Path library = libraryOf(text);
        Path copy = Files.copy(library, directory.resolve("libvulkan_second.so"));
        Path second = Files.writeString(
                directory.resolve("second.json"),
                text.replaceFirst("(\"library_path\"\\s*:\\s*\")[^\"]*", "$1" + copy));
        String files = manifest + ":" + second;
        String said = probe(
                Map.of("VK_DRIVER_FILES", files, "VK_ICD_FILENAMES", files),
                List.of(),
                "vulkan",
                "vulkan:0",
                "vulkan:1",
                "vulkan:2");
        assertThat(said).contains("available=true").contains("device vulkan:0 ").contains("device vulkan:1 ");
        assertThat(said).contains("filled vulkan:0 with 42").contains("filled vulkan:1 with 42");
        assertThat(said).contains("failed vulkan:2: NOT_FOUND").contains("over");
    }

    /** A software driver needs no device file; the test checks that nothing crashes or hangs. */
    @Tag("nightly")
    @Test
    void aProcessWithoutDevicesOfTheSystemWorksOrSaysWhyNot() throws Exception {
        VulkanDrivers.driver();
        assumeTrue(canHideDevices(), "hiding /dev from a process needs 'unshare' with the right for it");
        String said = probe(
                Map.of(),
                List.of("unshare", "--mount", "sh", "-c", "mount -t tmpfs -o size=64k tmpfs /dev && exec \"$@\"", "sh"),
                "vulkan");
        assertThat(said).containsAnyOf("filled vulkan:0 with 42", "available=false", "failed vulkan: ");
        assertThat(said).endsWith("over\n");
    }

    private static boolean canHideDevices() throws InterruptedException {
        try {
            return new ProcessBuilder("unshare", "--mount", "true").start().waitFor() == 0;
        } catch (IOException e) {
            return false;
        }
    }

    private static Path softwareDriver() throws IOException {
        Path manifests = Path.of("/usr/share/vulkan/icd.d");
        assumeTrue(Files.isDirectory(manifests), "no drivers in " + manifests);
        try (Stream<Path> files = Files.list(manifests)) {
            Path found = files.filter(file -> file.getFileName().toString().startsWith("lvp_icd"))
                    .findFirst()
                    .orElse(null);
            assumeTrue(found != null, "Mesa's software driver is not in " + manifests);
            return found;
        }
    }

    private static Path libraryOf(String manifest) {
        Path library = Path.of(manifest.replaceFirst("(?s).*\"library_path\"\\s*:\\s*\"([^\"]*)\".*", "$1"));
        assumeTrue(Files.isRegularFile(library), "library of the software driver is found by name: " + library);
        return library;
    }

    /** Runs {@link VulkanProbe} in a separate process and returns the output. */
    private String probe(Map<String, String> environment, List<String> before, String... ids) throws Exception {
        List<String> command = new ArrayList<>(before);
        command.addAll(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                VulkanProbe.class.getName()));
        command.addAll(Arrays.asList(ids));
        Path output = directory.resolve("output.txt");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        assertThat(process.waitFor(120, TimeUnit.SECONDS)).as("hangs").isTrue();
        String said = Files.readString(output);
        assertThat(process.exitValue()).as(said).isZero();
        return said;
    }

    // ---- Memory.

    @Test
    void moreMemoryThanTheDeviceHasIsRefusedAndTheDeviceGoesOn() {
        try (Device device = VulkanDrivers.open(DeviceOptions.builder())) {
            IreeException failure = catchThrowableOfType(
                    IreeException.class, () -> device.allocator().allocate(BufferParams.DEFAULT, 1L << 46));
            assertThat(failure).isNotNull().extracting(IreeException::code).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
            try (TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                    Fence ready = Fence.at(timeline, 1);
                    Fence filled = Fence.at(timeline, 2);
                    Buffer none = device.queue(0).alloca(null, ready, BufferParams.DEFAULT, 1L << 46, 0)) {
                device.queue(0).fill(ready, filled, none, 0, 4, 1, 4, 0);
                assertThat(catchThrowableOfType(IreeException.class, () -> filled.await(Duration.ofSeconds(60))))
                        .isNotNull()
                        .extracting(IreeException::code)
                        .isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
            }
            assertWorks(device);
        }
    }

    // ---- Code.

    @ParameterizedTest
    @ValueSource(ints = {0, 3, 4, 63, 64, 68, 100, 500, 2000, 7000})
    void truncatedExecutablesAreRefused(int length) {
        try (Device device = VulkanDrivers.open(DeviceOptions.builder())) {
            byte[] code = Arrays.copyOf(kernels(), length);
            assertRefused(device, code);
            assertWorks(device);
        }
    }

    /** Every byte of the tables and of the headers of modules, one at a time: everything loaded can be closed. */
    @Test
    void damagedTablesNeverCrash() {
        byte[] good = kernels();
        int firstModule = indexOf(good, 0x07230203);
        try (Device device = VulkanDrivers.open(DeviceOptions.builder())) {
            int refused = 0;
            for (int at = 0; at < firstModule + 20; at += 3) {
                byte[] damaged = good.clone();
                damaged[at] ^= (byte) (1 << at % 8);
                try (Executable loaded = load(device, damaged)) {
                    assertThat(loaded.exportCount()).isGreaterThanOrEqualTo(0);
                } catch (IreeException e) {
                    assertThat(e.code()).isNotEqualTo(StatusCode.INTERNAL);
                    refused++;
                }
            }
            assertThat(refused).isGreaterThan(10);
            assertWorks(device);
        }
    }

    @Test
    void aModuleOutsideSpirvIsRefused() {
        try (Device device = VulkanDrivers.open(DeviceOptions.builder())) {
            byte[] damaged = kernels();
            damaged[indexOf(damaged, 0x07230203)] ^= 1;
            IreeException failure = catchThrowableOfType(IreeException.class, () -> load(device, damaged));
            assertThat(failure).isNotNull().hasMessageContaining("SPIR-V");
            assertWorks(device);
        }
    }

    /** Ray tracing, present in no software driver. */
    @Test
    void aCapabilityMissingInTheDeviceIsNamed() {
        try (Device device = VulkanDrivers.open(DeviceOptions.builder())) {
            byte[] code = kernels();
            ByteBuffer words = ByteBuffer.wrap(code).order(ByteOrder.LITTLE_ENDIAN);
            int module = indexOf(code, 0x07230203);
            assertThat(words.getInt(module + 20)).as("OpCapability").isEqualTo(2 << 16 | 17);
            words.putInt(module + 24, 4479);
            IreeException failure = catchThrowableOfType(IreeException.class, () -> load(device, code));
            assertThat(failure).isNotNull();
            assertThat(failure.code()).isIn(StatusCode.INCOMPATIBLE, StatusCode.UNAVAILABLE, StatusCode.UNIMPLEMENTED);
            assertThat(failure.getMessage()).containsAnyOf("RayTracing", "4479");
        }
    }

    private static byte[] kernels() {
        try (var in = VulkanFaultsTest.class.getResourceAsStream("/vulkan/contract/kernels.spirv-fb")) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static int indexOf(byte[] code, int word) {
        ByteBuffer words = ByteBuffer.wrap(code).order(ByteOrder.LITTLE_ENDIAN);
        int at = 64;
        while (words.getInt(at) != word) {
            at += 4;
        }
        return at;
    }

    private static Executable load(Device device, byte[] code) {
        return device.createExecutable(new ExecutableParams("vulkan-spirv-fb", MemorySegment.ofArray(code)));
    }

    private static void assertRefused(Device device, byte[] code) {
        IreeException failure = catchThrowableOfType(IreeException.class, () -> load(device, code));
        assertThat(failure).as("%d bytes", code.length).isNotNull();
        assertThat(failure.code()).isNotEqualTo(StatusCode.INTERNAL);
    }

    // ---- Shutdown with work in flight.

    /** Work in flight has completed or failed when close returns, and everything is freed. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void closingWithWorkInFlightSettlesEveryFence(int queues) {
        endsInTheMiddle(queues, Device::close, StatusCode.ABORTED);
    }

    /** As if reported by the driver: everything fails with the cause, and the process can reopen the device. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void losingTheDeviceWithWorkInFlightSettlesEveryFence(int queues) {
        IreeException cause = IreeException.of(StatusCode.DATA_LOSS, "device lost on purpose");
        endsInTheMiddle(
                queues,
                device -> {
                    StreamDevices.lose((StreamDevice) device, cause);
                    assertThat(device.failure().orElseThrow()).cause().isSameAs(cause);
                    try (TimelineSemaphore timeline = TimelineSemaphore.create(0);
                            Fence refused = Fence.at(timeline, 1)) {
                        device.queue(0).barrier(null, refused, 0);
                        assertThat(refused.failure().orElseThrow()).cause().isSameAs(cause);
                    }
                    device.close();
                },
                StatusCode.DATA_LOSS);
        try (Device again = VulkanDrivers.open(DeviceOptions.builder())) {
            assertWorks(again);
        }
    }

    private static void endsInTheMiddle(int queues, Consumer<Device> end, StatusCode expected) {
        for (int round = 0; round < 20; round++) {
            List<Fence> fences = new ArrayList<>();
            List<AutoCloseable> toClose = new ArrayList<>();
            Device device = VulkanDrivers.open(DeviceOptions.builder().queueCount(queues));
            Executable kernels = VulkanKernels.load(device);
            Buffer in = device.allocator().allocate(BufferParams.DEFAULT, 4 << 10);
            Buffer out = device.allocator().allocate(BufferParams.DEFAULT, 4 << 10);
            TimelineSemaphore never = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
            Fence unreached = Fence.at(never, 1);
            for (int i = 0; i < 50; i++) {
                TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                Fence done = Fence.at(timeline, 1);
                fences.add(done);
                toClose.add(timeline);
                Fence wait = i % 5 == 4 ? unreached : i % 5 == 3 ? fences.get(i - 1) : null;
                if (i % 7 == 6) {
                    device.queue(i % queues).hostCall(wait, done, () -> {}, 0);
                } else {
                    device.queue(i % queues)
                            .dispatch(
                                    wait,
                                    done,
                                    kernels,
                                    JavaKernels.SCALE,
                                    DispatchConfig.of(1024, 1, 1),
                                    new int[] {1, i},
                                    BindingTable.of(in, out),
                                    0);
                }
            }
            end.accept(device);
            for (int i = 0; i < fences.size(); i++) {
                Fence fence = fences.get(i);
                try {
                    fence.await(Duration.ofSeconds(30));
                } catch (IreeException e) {
                    assertThat(e.code()).as("operation %d: %s", i, e).isEqualTo(expected);
                }
                assertThat(fence.query()).isIn(StatusCode.OK, expected);
            }
            fences.forEach(Fence::close);
            unreached.close();
            never.close();
            toClose.forEach(VulkanFaultsTest::close);
            kernels.close();
            in.close();
            out.close();
            VulkanDrivers.assertNothingLeft((StreamDevice) device);
        }
    }

    /** Whatever the driver does at any time: every fence is settled, failures carry their cause, and nothing leaks. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "lost_submit=1",
                "lost_submit=7",
                "lost_execution=1",
                "lost_execution=9",
                "lost_wait=1",
                "lost_wait=1 one_queue",
                "lost_execution=3 one_queue unified",
                "lost_submit=5 one_queue push",
                "oom_allocation=1",
                "oom_allocation=2",
                "oom_allocation=3 unified",
                "oom_allocation=4 one_queue",
                "heap_mib=1"
            })
    void faultsOfTheDriverSettleEveryFenceAndLeaveNothing(String settings) {
        VulkanDriver driver =
                new VulkanDriver(FakeVulkan.in(directory, settings).library(), true);
        assertThat(driver.availability().available()).isTrue();
        StreamDevice device =
                driver.open("vulkan", DeviceOptions.builder().queueCount(3).build());
        List<AutoCloseable> toClose = new ArrayList<>();
        List<Fence> fences = new ArrayList<>();
        Random random = new Random(settings.hashCode());
        for (int i = 0; i < 60; i++) {
            TimelineSemaphore timeline = TimelineSemaphore.create(0);
            toClose.add(timeline);
            Fence allocated = closed(toClose, Fence.at(timeline, 1));
            Fence filled = closed(toClose, Fence.at(timeline, 2));
            Fence freed = closed(toClose, Fence.at(timeline, 3));
            Fence wait = i == 0 || random.nextBoolean() ? null : fences.get(random.nextInt(fences.size()));
            DeviceQueue queue = device.queue(random.nextInt(3));
            Buffer buffer =
                    closed(toClose, queue.alloca(wait, allocated, BufferParams.DEFAULT, 64 << random.nextInt(13), 0));
            queue.fill(allocated, filled, buffer, 0, Buffer.WHOLE, 7, 1, 0);
            queue.dealloca(filled, freed, buffer, 0);
            fences.addAll(List.of(allocated, filled, freed));
        }
        try {
            assertSettled(device, settings, fences);
        } finally {
            device.close();
            for (AutoCloseable each : toClose.reversed()) {
                close(each);
            }
        }
        VulkanDrivers.assertNothingLeft(device);
        assertThat(driver.takeValidationMessages()).isEmpty();
    }

    private static void assertSettled(StreamDevice device, String settings, List<Fence> fences) {
        int failed = 0;
        for (Fence fence : fences) {
            try {
                fence.await(Duration.ofSeconds(30));
            } catch (IreeException e) {
                assertThat(e.code()).as(settings).isIn(StatusCode.ABORTED, StatusCode.RESOURCE_EXHAUSTED);
                failed++;
            }
        }
        if (settings.startsWith(
                "lost")) { // an allocation with a single failure is retried in another slab, or waited for
            if (!settings.startsWith("lost_wait")) { // all may be complete before the first wait
                assertThat(failed).as("operations that failed").isPositive();
            }
            // Submitters are notified before the device is lost.
            long deadline = System.nanoTime() + 30_000_000_000L;
            while (device.failure().isEmpty() && System.nanoTime() < deadline) {
                Thread.onSpinWait();
            }
            assertThat(device.failure().map(IreeException::code)).contains(StatusCode.ABORTED);
        } else {
            assertWorks(device);
        }
    }

    private static <T extends AutoCloseable> T closed(List<AutoCloseable> toClose, T resource) {
        toClose.add(resource);
        return resource;
    }

    private static void close(AutoCloseable resource) {
        try {
            resource.close();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void assertWorks(Device device) {
        try (TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                Fence done = Fence.at(timeline, 1);
                Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, 64)) {
            device.queue(0).fill(null, done, buffer, 0, 64, 9, 4, 0);
            done.await(Duration.ofSeconds(60));
        }
    }

    private static void assertFails(StatusCode code, String message, ThrowingCallable call) {
        IreeException failure = catchThrowableOfType(IreeException.class, call);
        assertThat(failure).isNotNull();
        assertThat(failure.code()).isEqualTo(code);
        assertThat(failure.getMessage()).contains(message);
    }
}
