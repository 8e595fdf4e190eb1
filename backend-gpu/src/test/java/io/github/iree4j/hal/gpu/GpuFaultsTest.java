package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.hal.stream.StreamDevices;
import io.github.iree4j.nativeaccess.gpu.FakeGpu;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Faults of a library, a device or its code are reported with their cause, hang nothing and leave nothing. */
@Timeout(300)
class GpuFaultsTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final BufferParams OF_DEVICE = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);
    private static final BufferParams OF_HOST = new BufferParams(
            MemoryType.HOST_VISIBLE | MemoryType.DEVICE_VISIBLE, BufferUsage.DEFAULT | BufferUsage.MAPPING);

    @TempDir
    private Path directory;

    private @Nullable FakeGpu current;

    private static void assertFails(StatusCode code, String message, ThrowingCallable call) {
        IreeException failure = catchThrowableOfType(IreeException.class, call);
        assertThat(failure).isNotNull();
        assertThat(failure).hasMessageContaining(message);
        assertThat(failure.code()).isEqualTo(code);
    }

    private static void assertWorks(StreamDevice device) {
        try (TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence done = Fence.at(timeline, 1);
                Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, 64)) {
            device.queue(0).fill(null, done, buffer, 0, 64, 9, 4, 0);
            done.await(LONG);
        }
    }

    // ---- Libraries.

    private FakeGpu library(GpuKind kind, String settings) {
        return FakeGpu.in(directory, FakeGpu.Kind.valueOf(kind.name()), settings);
    }

    private GpuDriver unavailable(GpuKind kind, String library, String... says) {
        GpuDriver driver = new GpuDriver(kind, library);
        assertThat(driver.availability().available()).isFalse();
        assertThat(driver.availability().reason()).contains(says);
        assertThat(driver.devices()).isEmpty();
        assertFails(
                StatusCode.UNAVAILABLE,
                "driver '%s' is not available".formatted(driver.name()),
                () -> driver.open(driver.name(), DeviceOptions.DEFAULTS));
        return driver;
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aMissingOrInvalidLibraryIsNamed(GpuKind kind) throws IOException {
        unavailable(kind, "/no/such/libgpu.so.1", "/no/such/libgpu.so.1");
        Path file = Files.writeString(directory.resolve("libgpu.so.1"), "not a library");
        unavailable(kind, file.toString(), file.toString());
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aMissingSymbolIsNamed(GpuKind kind) {
        String symbol = kind == GpuKind.CUDA ? "cuLaunchKernel" : "hipModuleLaunchKernel";
        unavailable(kind, library(kind, "no_symbol=" + symbol).library(), symbol, "update the");
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aFailingStartOfTheDriverIsExplained(GpuKind kind) {
        unavailable(kind, library(kind, "fail=init:1:803").library(), "starting the", "SYSTEM_DRIVER_MISMATCH (803)");
        unavailable(kind, library(kind, "fail=init:1:999").library(), "UNKNOWN (999)");
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aDriverWithoutDevicesSaysSo(GpuKind kind) {
        unavailable(kind, library(kind, "no_device").library(), "finds no device");
        unavailable(kind, library(kind, "devices=0").library(), "finds no device");
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aMissingDeviceIsNamedWithTheExistingDevices(GpuKind kind) {
        GpuDriver driver =
                new GpuDriver(kind, library(kind, "devices=2 no_uuid").library());
        for (String id : List.of(driver.name() + ":2", driver.name() + ":", "", "7", "-1")) {
            assertFails(
                    StatusCode.NOT_FOUND,
                    "it has: %s:0 (fake %s device 0), %s:1".formatted(driver.name(), kind, driver.name()),
                    () -> driver.open(id, DeviceOptions.DEFAULTS));
        }
        driver.open("1", DeviceOptions.DEFAULTS).close();
    }

    /** Each part of a device, not made by the driver. */
    @ParameterizedTest
    @MethodSource("openings")
    void anUnopenableDeviceLeavesNothing(GpuKind kind, String call, int number) {
        FakeGpu library = library(kind, "fail=%s:%d:2".formatted(call, number));
        GpuDriver driver = new GpuDriver(kind, library.library());
        assertFails(
                StatusCode.RESOURCE_EXHAUSTED,
                "OUT_OF_MEMORY (2)",
                () -> driver.open(
                        driver.name(), DeviceOptions.builder().queueCount(4).build()));
        assertThat(library.complaints()).isEmpty();
        StreamDevice device = driver.open(driver.name(), DeviceOptions.DEFAULTS);
        assertWorks(device);
        device.close();
        GpuDrivers.assertNothingLeft(device);
        assertThat(library.complaints()).isEmpty();
    }

    static Stream<Arguments> openings() {
        return Stream.of(GpuKind.values())
                .flatMap(kind -> Stream.of(
                        Arguments.of(kind, "context_retain", 1),
                        Arguments.of(kind, "stream_create", 1),
                        Arguments.of(kind, "stream_create", 4)));
    }

    // ---- Code.

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void codeForAnotherArchitectureIsRefusedWithARemedy(GpuKind kind) {
        GpuDrivers fake = GpuDrivers.fake(directory, kind, kind == GpuKind.CUDA ? "compute=8.0" : "gfx=gfx90a");
        boolean cuda = kind == GpuKind.CUDA;
        byte[] image = cuda ? GpuExecutables.elf(190, 7, 90) : GpuExecutables.elf(224, 3, 0x41);
        byte[] code = GpuExecutables.pack(
                cuda ? GpuExecutables.CUDA : GpuExecutables.HIP,
                List.of(GpuExecutables.kernel("add", 0, new long[] {0, 0, 0})),
                image);
        try (StreamDevice device = fake.open(DeviceOptions.builder())) {
            IreeException failure = catchThrowableOfType(
                    IreeException.class,
                    () -> device.createExecutable(new ExecutableParams(
                            cuda ? GpuExecutableFile.CUDA : GpuExecutableFile.HIP, MemorySegment.ofArray(code))));
            assertThat(failure).isNotNull();
            assertThat(failure.code()).as(failure.getMessage()).isEqualTo(StatusCode.INCOMPATIBLE);
            assertThat(failure)
                    .hasMessageContainingAll(
                            cuda ? "for sm_90" : "for gfx1100", "compile the program for this architecture");
            assertWorks(device);
        }
        fake.assertNothingToComplainOf();
    }

    // ---- Loss.

    private static void dispatch(DeviceQueue queue, Fence done, Executable kernels, Buffer in, Buffer out) {
        queue.dispatch(
                null,
                done,
                kernels,
                JavaKernels.SCALE,
                DispatchConfig.of(4, 1, 1),
                new int[] {1, 1},
                BindingTable.of(in, out),
                0);
    }

    private static IreeException awaitFailure(StreamDevice device) {
        long deadline = System.nanoTime() + LONG.toNanos();
        while (device.failure().isEmpty() && System.nanoTime() < deadline) {
            Thread.onSpinWait();
        }
        return device.failure().orElseThrow();
    }

    private static @Nullable IreeException awaitEnd(Fence fence) {
        return catchThrowableOfType(IreeException.class, () -> fence.await(LONG));
    }

    /** A fault persists: all work fails, all waiters are notified, and a device opened afterwards works. */
    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aFaultingKernelLosesTheDeviceWithAReopeningPossible(GpuKind kind) {
        GpuDrivers fake = GpuDrivers.fake(directory, kind, "kernel_fault=5");
        try (StreamDevice device = fake.open(DeviceOptions.builder().queueCount(3));
                TimelineSemaphore never = TimelineSemaphore.create(0);
                Fence unreached = Fence.at(never, 1);
                Executable kernels = GpuKernels.load(device);
                Buffer one = device.allocator().allocate(OF_DEVICE, 64);
                Buffer two = device.allocator().allocate(OF_DEVICE, 64)) {
            List<Fence> all = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                all.add(Fence.adopt(TimelineSemaphore.create(0), 1));
            }
            fake.hang();
            for (int i = 0; i < 10; i++) {
                dispatch(device.queue(i % 3), all.get(i), kernels, one, two);
            }
            device.queue(1).fill(all.get(9), all.get(10), one, 0, 4, 1, 4, 0); // behind a failing operation
            device.queue(2).barrier(unreached, all.get(11), 0); // for a point never signalled
            fake.goOn();
            IreeException failure = awaitFailure(device);
            assertThat(failure.code()).isEqualTo(StatusCode.ABORTED);
            assertThat(failure).hasMessageContainingAll("is lost", "ILLEGAL_ADDRESS (700)");
            int failed = 0;
            for (Fence each : all) {
                try {
                    each.await(LONG);
                } catch (IreeException e) {
                    assertThat(e.code()).isEqualTo(StatusCode.ABORTED);
                    failed++;
                }
                each.close();
            }
            assertThat(failed).isGreaterThanOrEqualTo(12 - 4);
            assertFails(StatusCode.ABORTED, "is lost", () -> device.createSemaphore(0, 0));
        }
        try (StreamDevice again = fake.open(DeviceOptions.builder())) {
            assertThat(again.failure()).isEmpty();
            assertWorks(again);
        }
        fake.assertNothingToComplainOf();
    }

    /** Lost while a lane waits for hanging work of another, and others are held back behind commands not given yet. */
    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aLossEndsWorkHeldBack(GpuKind kind) {
        GpuDrivers fake = GpuDrivers.fake(directory, kind, "");
        StreamDevice device = fake.open(DeviceOptions.builder().queueCount(4));
        List<Fence> all = new ArrayList<>();
        try (Buffer buffer = device.allocator().allocate(OF_DEVICE, 64)) {
            fake.hang();
            for (int i = 0; i < 2000; i++) { // more than a stream has room for
                all.add(Fence.adopt(TimelineSemaphore.create(0), 1));
                device.queue(0).fill(null, all.get(i), buffer, 0, 4, i, 4, 0);
            }
            for (int i = 2000; i < 2030; i++) {
                all.add(Fence.adopt(TimelineSemaphore.create(0), 1));
                device.queue(i % 3 + 1).fill(all.get(i - 1), all.get(i), buffer, 0, 4, i, 4, 0);
            }
            Objects.requireNonNull(fake.library()).lose();
            assertThat(awaitFailure(device).code()).isEqualTo(StatusCode.ABORTED);
            for (Fence each : all) {
                assertFails(StatusCode.ABORTED, "LAUNCH_FAILED (719)", () -> each.await(LONG));
                each.close();
            }
        }
        fake.goOn();
        device.close();
        GpuDrivers.assertNothingLeft(device);
        Objects.requireNonNull(fake.library()).find();
        try (StreamDevice again = fake.open(DeviceOptions.builder())) {
            assertWorks(again);
        }
        fake.assertNothingToComplainOf();
    }

    /** A device lost by another of the same context. */
    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aLossIsALossOfAllDevicesOfTheContext(GpuKind kind) {
        GpuDrivers fake = GpuDrivers.fake(directory, kind, "kernel_fault=1");
        StreamDevice one = fake.open(DeviceOptions.builder());
        StreamDevice two = fake.open(DeviceOptions.builder());
        try (Executable kernels = GpuKernels.load(one);
                Buffer in = one.allocator().allocate(OF_DEVICE, 64);
                Buffer out = one.allocator().allocate(OF_DEVICE, 64);
                Buffer other = two.allocator().allocate(OF_DEVICE, 64);
                Fence first = Fence.adopt(TimelineSemaphore.create(0), 1);
                Fence second = Fence.adopt(TimelineSemaphore.create(0), 1)) {
            dispatch(one.queue(0), first, kernels, in, out);
            assertFails(StatusCode.ABORTED, "is lost", () -> first.await(LONG));
            two.queue(0).fill(null, second, other, 0, 4, 1, 4, 0);
            assertFails(StatusCode.ABORTED, "is lost", () -> second.await(LONG));
        }
        one.close();
        two.close();
        for (StreamDevice each : List.of(one, two)) {
            GpuDrivers.assertNothingLeft(each);
        }
        try (StreamDevice again = fake.open(DeviceOptions.builder())) {
            assertWorks(again);
        }
        fake.assertNothingToComplainOf();
    }

    /** Another user of the process has reset the device, the driver's library or its server has ended, or the hardware has contained an error. */
    @ParameterizedTest
    @CsvSource({
        "CUDA, 709, CONTEXT_IS_DESTROYED",
        "HIP,  709, CONTEXT_IS_DESTROYED",
        "CUDA, 4,   DEINITIALIZED",
        "HIP,  4,   DEINITIALIZED",
        "CUDA, 226, CONTAINED",
        "CUDA, 721, TENSOR_MEMORY_LEAK",
        "CUDA, 806, MPS_RPC_FAILURE",
        "CUDA, 810, MPS_CLIENT_TERMINATED",
    })
    void aFinalEndOfAContextLosesTheDevice(GpuKind kind, int code, String name) {
        GpuDrivers fake = GpuDrivers.fake(directory, kind, "fail=fill_32:3:" + code);
        StreamDevice device = fake.open(DeviceOptions.builder());
        List<Fence> all = new ArrayList<>();
        try (Buffer buffer = device.allocator().allocate(OF_DEVICE, 64)) {
            for (int i = 0; i < 6; i++) {
                all.add(Fence.adopt(TimelineSemaphore.create(0), 1));
                device.queue(i % 2).fill(i == 0 ? null : all.get(i - 1), all.get(i), buffer, 0, 4, 5, 4, 0);
            }
            assertThat(awaitFailure(device).code()).isEqualTo(StatusCode.ABORTED);
            for (Fence each : all.subList(2, 6)) {
                assertFails(StatusCode.ABORTED, "is lost: %s (%d)".formatted(name, code), () -> each.await(LONG));
            }
        }
        all.forEach(Fence::close);
        device.close();
        GpuDrivers.assertNothingLeft(device);
        try (StreamDevice again = fake.open(DeviceOptions.builder())) {
            assertWorks(again);
        }
        fake.assertNothingToComplainOf();
    }

    // ---- Whatever the driver refuses, at any time.

    /** Faults of the driver, with whether the device is lost or goes on, or may be either. */
    static Stream<Arguments> faults() {
        List<String> settings = new ArrayList<>(List.of(
                "kernel_fault=1",
                "kernel_fault=20",
                "lost_wait=1",
                "lost_wait=9",
                "launch_error=1",
                "launch_error=13",
                "heap_mib=1",
                "capacity=8",
                "fail=stream_wait_event:1:801",
                "fail=stream_wait_event:3:700",
                "fail=event_record:1:2",
                "fail=event_record:17:999",
                "fail=event_query:1:2",
                "fail=event_query:6:719",
                "fail=event_synchronize:1:2",
                "fail=event_synchronize:4:801",
                "fail=fill_32:3:1",
                "fail=fill_8:1:700"));
        IntStream.rangeClosed(1, 6).forEach(n -> settings.add("fail=event_create:%d:2".formatted(n)));
        IntStream.rangeClosed(1, 20).forEach(n -> settings.add("oom_allocation=" + n));
        settings.add("oom_allocation=2 visible");
        return Stream.of(GpuKind.values()).flatMap(kind -> settings.stream().map(each -> Arguments.of(kind, each)));
    }

    @ParameterizedTest
    @MethodSource("faults")
    void faultsOfTheDriverSettleEveryFenceAndLeaveNothing(GpuKind kind, String settings) {
        GpuDrivers fake = GpuDrivers.fake(directory, kind, settings);
        StreamDevice device = fake.open(DeviceOptions.builder().queueCount(3));
        List<AutoCloseable> toClose = new ArrayList<>();
        List<Fence> fences = new ArrayList<>();
        Random random = new Random(settings.hashCode());
        try {
            Executable kernels = closed(toClose, GpuKernels.load(device));
            for (int i = 0; i < 60; i++) {
                TimelineSemaphore timeline = closed(toClose, TimelineSemaphore.create(0));
                List<Fence> own = IntStream.rangeClosed(1, 4)
                        .mapToObj(value -> closed(toClose, Fence.at(timeline, value)))
                        .toList();
                Fence wait = i == 0 || random.nextBoolean() ? null : fences.get(random.nextInt(fences.size()));
                BufferParams params = random.nextBoolean() ? OF_DEVICE : OF_HOST;
                int length = 64 << random.nextInt(13);
                Buffer buffer = closed(toClose, queue(device, random).alloca(wait, own.get(0), params, length, 0));
                long pattern = random.nextBoolean() ? 7 : 0x0102030405060708L;
                queue(device, random).fill(own.get(0), own.get(1), buffer, 0, length, pattern, pattern == 7 ? 1 : 8, 0);
                queue(device, random)
                        .dispatch(
                                own.get(1),
                                own.get(2),
                                kernels,
                                JavaKernels.SCALE,
                                DispatchConfig.of(8, 1, 1),
                                new int[] {1, 1},
                                BindingTable.of(buffer, buffer),
                                0);
                queue(device, random).dealloca(own.get(2), own.get(3), buffer, 0);
                fences.addAll(own);
            }
            assertSettled(device, settings, fences);
        } finally {
            device.close();
            toClose.reversed().forEach(GpuFaultsTest::close);
        }
        assertThat(StreamDevices.awaitFreed(device, LONG)).isTrue();
        GpuDrivers.assertNothingLeft(device);
        fake.assertNothingToComplainOf();
    }

    /** Nothing more is given, and work on streams keeps its resources until its end. */
    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aDriverOutOfEventsFailsTheDeviceAndEndsItsWork(GpuKind kind) {
        String never = IntStream.range(2, 9)
                .mapToObj("fail=event_create:%d:2 "::formatted)
                .collect(Collectors.joining());
        GpuDrivers fake = GpuDrivers.fake(directory, kind, never);
        StreamDevice device = fake.open(DeviceOptions.builder().queueCount(2));
        try (Buffer buffer = device.allocator().allocate(OF_HOST, 64);
                Fence first = Fence.adopt(TimelineSemaphore.create(0), 1);
                Fence second = Fence.adopt(TimelineSemaphore.create(0), 1)) {
            fake.hang();
            device.queue(0).fill(null, first, buffer, 0, 4, 1, 4, 0);
            device.queue(1).fill(null, second, buffer, 4, 4, 1, 4, 0);
            assertFails(StatusCode.RESOURCE_EXHAUSTED, "creating an event", () -> second.await(LONG));
            assertThat(awaitFailure(device).code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
            assertThat(first.query()).isEqualTo(StatusCode.DEFERRED);
            fake.goOn();
            assertFails(StatusCode.RESOURCE_EXHAUSTED, "creating an event", () -> first.await(LONG));
        }
        device.close();
        GpuDrivers.assertNothingLeft(device);
        fake.assertNothingToComplainOf();
    }

    /** The same where waiting fails, with work held back on other lanes. */
    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aDriverRefusingWaitsFailsTheDeviceAndEndsItsWork(GpuKind kind) {
        GpuDrivers fake = GpuDrivers.fake(directory, kind, "fail=event_synchronize:1:304");
        StreamDevice device = fake.open(DeviceOptions.builder().queueCount(2));
        List<Fence> all = new ArrayList<>();
        try (Buffer buffer = device.allocator().allocate(OF_HOST, 64)) {
            fake.hang();
            for (int i = 0; i < 700; i++) {
                all.add(Fence.adopt(TimelineSemaphore.create(0), 1));
                device.queue(i % 2)
                        .fill(i % 2 == 0 ? null : all.get(i - 1), all.get(i), buffer, 4L * (i % 2), 4, 1, 4, 0);
            }
            assertThat(awaitFailure(device))
                    .hasMessageContaining("takes no more work")
                    .hasMessageContaining("OPERATING_SYSTEM (304)");
            fake.goOn();
            boolean[] ended = {true, true
            }; // by stream: work of a stream may end before the notice of the device's failure
            for (int i = 0; i < all.size(); i++) {
                Fence each = all.get(i);
                ended[i % 2] &= awaitEnd(each) == null;
                if (!ended[i % 2]) {
                    assertFails(StatusCode.RESOURCE_EXHAUSTED, "takes no more work", () -> each.await(LONG));
                }
                each.close();
            }
            assertThat(ended[1]).as("all was given").isFalse();
        }
        device.close();
        GpuDrivers.assertNothingLeft(device);
        fake.assertNothingToComplainOf();
    }

    private static DeviceQueue queue(StreamDevice device, Random random) {
        return device.queue(random.nextInt(3));
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

    private static void assertSettled(StreamDevice device, String settings, List<Fence> fences) {
        for (Fence fence : fences) {
            try {
                fence.await(Duration.ofSeconds(30));
            } catch (IreeException e) {
                assertThat(e.code()).as(settings + ": " + e).isNotEqualTo(StatusCode.DEADLINE_EXCEEDED);
            }
        }
        boolean lost =
                settings.startsWith("kernel_fault") || settings.startsWith("lost") || settings.matches(".*:(7..|999)");
        if (lost && !settings.startsWith("lost_wait")) { // all may be over before the first wait
            assertThat(awaitFailure(device).code()).isEqualTo(StatusCode.ABORTED);
        } else if (!settings.contains("fail=") && !settings.startsWith("lost_wait")) {
            assertWorks(device);
        }
    }

    // ---- Shutdown with work in flight.

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void closingWithWorkInFlightSettlesEveryFence(GpuKind kind) {
        endsInTheMiddle(kind, StreamDevice::close, StatusCode.ABORTED);
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void losingTheDeviceWithWorkInFlightSettlesEveryFence(GpuKind kind) {
        IreeException cause = IreeException.of(StatusCode.DATA_LOSS, "device lost on purpose");
        endsInTheMiddle(
                kind,
                device -> {
                    StreamDevices.lose(device, cause);
                    assertThat(device.failure().orElseThrow()).cause().isSameAs(cause);
                    device.close();
                },
                StatusCode.DATA_LOSS);
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aLossInTheMiddleSettlesEveryFence(GpuKind kind) {
        endsInTheMiddle(
                kind,
                device -> {
                    Objects.requireNonNull(current).lose();
                    device.close();
                },
                StatusCode.ABORTED);
    }

    private void endsInTheMiddle(GpuKind kind, Consumer<StreamDevice> end, StatusCode expected) {
        for (int round = 0; round < 20; round++) {
            int queues = 1 + round % 4;
            GpuDrivers fake = GpuDrivers.fake(directory, kind, "");
            current = fake.library();
            List<Fence> fences = new ArrayList<>();
            StreamDevice device = fake.open(DeviceOptions.builder().queueCount(queues));
            try (Executable kernels = GpuKernels.load(device);
                    Buffer in = device.allocator().allocate(OF_DEVICE, 4 << 10);
                    Buffer out = device.allocator().allocate(OF_HOST, 4 << 10);
                    Fence unreached = Fence.adopt(TimelineSemaphore.create(0), 1)) {
                for (int i = 0; i < 50; i++) {
                    Fence done = Fence.adopt(TimelineSemaphore.create(0), 1);
                    fences.add(done);
                    Fence wait = i % 5 == 4 ? unreached : i % 5 == 3 ? fences.get(i - 1) : null;
                    DeviceQueue queue = device.queue(i % queues);
                    if (i % 7 == 6) {
                        queue.hostCall(wait, done, () -> {}, 0);
                    } else if (i % 7 == 3) {
                        queue.copy(wait, done, out, 0, out, 64, 64, 0); // the driver waits
                    } else {
                        queue.dispatch(
                                wait,
                                done,
                                kernels,
                                JavaKernels.SCALE,
                                DispatchConfig.of(64, 1, 1),
                                new int[] {1, i},
                                BindingTable.of(in, out),
                                0);
                    }
                }
                end.accept(device);
                for (Fence fence : fences) {
                    try {
                        fence.await(LONG);
                    } catch (IreeException e) {
                        assertThat(e.code()).as(e.toString()).isEqualTo(expected);
                    }
                    assertThat(fence.query()).isIn(StatusCode.OK, expected);
                }
                fences.forEach(Fence::close);
            }
            assertThat(StreamDevices.awaitFreed(device, LONG)).isTrue();
            GpuDrivers.assertNothingLeft(device);
            fake.assertNothingToComplainOf();
        }
    }
}
