package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.GpuOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.hal.stream.StreamDevices;
import io.github.iree4j.nativeaccess.gpu.FakeGpu;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each call of each entry point of a driver fails once, in a program that uses all of them and is submitted backwards:
 * every step gets a status or a result, nothing hangs, and the driver gets everything back.
 */
@Timeout(900)
class EachGpuCallFailsTest {
    private static final Path ENTRY_POINTS = Path.of("../native-shim/src/gpu/gpu_symbols.inc");
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int DISPATCHES = 20; // enough for a graph
    private static final int COUNT = 64; // integers of a buffer

    private static final BufferParams OF_DEVICE = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);
    private static final BufferParams OF_HOST = new BufferParams(
            MemoryType.HOST_VISIBLE | MemoryType.DEVICE_VISIBLE, BufferUsage.DEFAULT | BufferUsage.MAPPING);
    private static final BufferParams OF_BOTH = new BufferParams(
            MemoryType.DEVICE_LOCAL | MemoryType.HOST_VISIBLE, BufferUsage.DEFAULT | BufferUsage.MAPPING);

    private static final String QUIET =
            ".version 6.0\n.target sm_75\n.address_size 64\n.visible .entry quiet() { ret; }\n";

    /** Codes of failing calls: short of means, refused, unknown, not there; lasting faults of the device. */
    private static final List<Integer> CODES = List.of(2, 304, 1, 801, 4, 700, 709, 719, 999);

    private static final List<Integer> FAULTS = List.of(4, 700, 709, 719);

    @TempDir
    private Path directory;

    @ParameterizedTest
    @EnumSource
    void everyStepGetsAStatusAndTheDriverGetsEverythingBack(GpuKind kind) throws IOException {
        assumeTrue(Files.exists(ENTRY_POINTS), "the list of entry points is not here");
        FakeGpu fake = FakeGpu.in(directory, FakeGpu.Kind.valueOf(kind.name()), "");
        long seed = Effort.isBrief() ? 7 : System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        Set<String> unused = new TreeSet<>(entryPoints(kind));
        if (kind == GpuKind.CUDA) {
            unused.remove("device_uuid"); // only where the driver has not device_uuid_of_instance
        }
        for (String variant :
                List.of("", "no_attribute=115 no_attribute=88 ")) { // with the driver's pools, and without
            Steps clean = run(kind, fake, variant, 1);
            assertThat(clean.failures).isEmpty();
            Map<String, Long> calls = new TreeMap<>();
            entryPoints(kind).forEach(each -> calls.put(each, fake.calls(each)));
            for (Map.Entry<String, Long> each : calls.entrySet()) {
                if (each.getValue() > 0
                        && (unused.remove(each.getKey()) || !Effort.isBrief())) { // briefly, in a single variant
                    failEach(kind, fake, variant, each.getKey(), each.getValue(), random);
                }
            }
        }
        assertThat(unused).as("entry points never called by the program").isEmpty();
    }

    private void failEach(GpuKind kind, FakeGpu fake, String variant, String call, long count, Random random)
            throws IOException {
        if (call.equals("context_release")) {
            return; // a context never released stays
        }
        List<Integer> codes = canOnlyFault(call) ? FAULTS : CODES;
        for (long at : chosen(count, random)) {
            int code = codes.get(random.nextInt(codes.size()));
            run(kind, fake, "%sfail=%s:%d:%d".formatted(variant, call, at, code), random.nextLong());
        }
    }

    private static List<String> entryPoints(GpuKind kind) throws IOException {
        return Pattern.compile("X\\((?:REQUIRED|OPTIONAL), (\\w+), (\\w+),\\s+(\\w+)")
                .matcher(Files.readString(ENTRY_POINTS))
                .results()
                .filter(each -> !each.group(kind == GpuKind.CUDA ? 2 : 3).equals("none"))
                .map(each -> each.group(1))
                .toList();
    }

    /**
     * Freeing calls have freed, unless their context is dead: drivers report only a dead context. Memory is offered
     * again.
     */
    private static boolean canOnlyFault(String call) {
        return call.endsWith("_destroy")
                || call.endsWith("_unload")
                || call.endsWith("_unregister")
                || call.equals("host_free")
                || call.equals("context_pop");
    }

    /** The failing calls of an entry point: all of few, else the first, the last and some. */
    private static Iterable<Long> chosen(long count, Random random) {
        TreeSet<Long> chosen = new TreeSet<>();
        long limit = Effort.isBrief() ? 2 : 12;
        for (long i = 1; i <= count && chosen.size() < limit; i++) {
            chosen.add(count <= limit ? i : i == 1 ? 1 : i == 2 ? count : 1 + random.nextLong(count));
        }
        return chosen;
    }

    private Steps run(GpuKind kind, FakeGpu fake, String settings, long seed) throws IOException {
        String managed = "attribute=%d:1 ".formatted(kind == GpuKind.CUDA ? 89 : 9);
        fake.set("devices=2 peer " + managed + settings);
        fake.forget();
        Steps steps = new Steps(kind, fake, "%s, order %d".formatted(settings, seed), new Random(seed));
        try (Arena arena = Arena.ofShared()) {
            steps.run(Files.createTempDirectory(directory, "code"), arena);
        }
        return steps;
    }

    /** The program. Steps go on after failures. */
    private static final class Steps {
        private final GpuKind kind;
        private final FakeGpu fake;
        private final String name;
        private final Random random;
        private final List<AutoCloseable> open = new ArrayList<>();
        private final List<StreamDevice> devices = new ArrayList<>();
        private final List<Fence> fences = new ArrayList<>();
        final List<String> failures = new ArrayList<>();

        Steps(GpuKind kind, FakeGpu fake, String name, Random random) {
            this.kind = kind;
            this.fake = fake;
            this.name = name;
            this.random = random;
        }

        private <T extends AutoCloseable> T closed(T resource) {
            open.add(resource);
            return resource;
        }

        private interface Step {
            void run() throws Exception;
        }

        private void step(Step step) {
            try {
                step.run();
            } catch (IreeException e) {
                assertThat(e.getMessage()).as(name).isNotBlank();
                assertThat(e.code()).as("%s: %s", name, e).isNotEqualTo(StatusCode.DEADLINE_EXCEEDED);
                failures.add(String.valueOf(e.getMessage()));
            } catch (Exception e) {
                throw new AssertionError(name, e);
            }
        }

        private Fence fence() {
            Fence fence = closed(Fence.adopt(TimelineSemaphore.create(0), 1));
            fences.add(fence);
            return fence;
        }

        /** Submits work; if a call is refused, its waiters are notified. */
        private void submit(Fence signal, Step work) {
            step(() -> {
                try {
                    work.run();
                } catch (IreeException e) {
                    signal.fail(e);
                    throw e;
                }
            });
        }

        void run(Path code, Arena arena) {
            GpuDriver driver = new GpuDriver(
                    kind, fake.library(), fake.library(), StreamDevice.CLOSE_LIMIT, 8, GpuDrivers.linger(kind));
            if (!driver.availability().available()) {
                assertThat(driver.availability().reason()).as(name).isNotBlank();
                failures.add(String.valueOf(driver.availability().reason()));
                return;
            }
            DeviceOptions options = DeviceOptions.builder()
                    .queueCount(3)
                    .with(GpuOptions.DEFAULTS.compiledCode(code.toString()))
                    .build();
            step(() -> devices.add(driver.open(driver.name() + ":0", options)));
            step(() -> devices.add(driver.open(driver.name() + ":1", options)));
            try {
                if (devices.size() == 2) {
                    use(devices.get(0), devices.get(1), arena);
                }
                for (Fence each : fences) {
                    step(() -> each.await(LONG));
                }
            } finally {
                close();
            }
            for (StreamDevice each : devices) {
                assertThat(StreamDevices.awaitFreed(each, LONG)).as(name).isTrue();
                GpuDrivers.assertNothingLeft(each);
            }
            assertThat(fake.complaints()).as(name).isEmpty();
        }

        /** In any order: devices before their buffers, semaphores before their fences. */
        private void close() {
            open.addAll(devices);
            Collections.shuffle(open, random);
            for (AutoCloseable each : open) {
                step(each::close);
            }
        }

        private void use(StreamDevice device, StreamDevice peer, Arena arena) {
            step(() -> sharedMemory(device));
            step(() -> graphs(device));
            step(() -> backwards(device));
            step(() -> foreign(device, peer, arena));
            step(() -> inQueueOrder(device));
            step(() -> indirect(device));
            step(() -> device.allocator().trim());
        }

        private Executable kernels(StreamDevice device) {
            return closed(GpuKernels.load(device));
        }

        private Buffer buffer(StreamDevice device, BufferParams params, int size) {
            return closed(device.allocator().allocate(params, size));
        }

        private DeviceQueue queue(StreamDevice device) {
            return device.queue(random.nextInt(3));
        }

        /** If nothing has failed, the result is there. */
        private void check(Fence done, Buffer buffer, int expected) {
            done.await(LONG);
            int[] found = new int[COUNT];
            buffer.read(0, MemorySegment.ofArray(found));
            assertThat(found).as(name).containsOnly(expected);
        }

        private CommandBuffer increments(StreamDevice device, Executable kernels) {
            CommandBuffer commands =
                    closed(device.createCommandBuffer(0, CommandBuffer.DISPATCH | CommandBuffer.TRANSFER, 1, 1));
            BufferRef place = BufferRef.slot(0, 0, 4 * COUNT);
            for (int i = 0; i < DISPATCHES; i++) {
                commands.dispatch(
                        kernels,
                        JavaKernels.SCALE,
                        DispatchConfig.of(COUNT, 1, 1),
                        new int[] {1, 1},
                        List.of(place, place),
                        0);
                commands.executionBarrier(CommandBuffer.STAGE_COMMAND_RETIRE, CommandBuffer.STAGE_COMMAND_ISSUE, 0);
                if (i == 5) { // branches of a graph that write the present values
                    commands.fillBuffer(BufferRef.slot(0, 0, 4), 6, 4, 0);
                    commands.fillBuffer(BufferRef.slot(0, 4, 4), 6, 4, 0);
                    commands.executionBarrier(CommandBuffer.STAGE_COMMAND_RETIRE, CommandBuffer.STAGE_COMMAND_ISSUE, 0);
                }
            }
            commands.finish();
            return commands;
        }

        /** Code with workgroups that want undeclared shared memory. */
        private void sharedMemory(StreamDevice device) {
            boolean cuda = kind == GpuKind.CUDA;
            byte[] code = GpuExecutables.pack(
                    cuda ? GpuExecutables.CUDA : GpuExecutables.HIP,
                    List.of(GpuExecutables.kernel("quiet", 0, 0).u32(3, 1024)),
                    QUIET.getBytes(StandardCharsets.US_ASCII));
            closed(device.createExecutable(new ExecutableParams(
                    cuda ? GpuExecutableFile.CUDA : GpuExecutableFile.HIP, MemorySegment.ofArray(code))));
        }

        /** Executed again and again, then with another buffer. */
        private void graphs(StreamDevice device) {
            Executable kernels = kernels(device);
            CommandBuffer commands = increments(device, kernels);
            for (BufferParams params : List.of(OF_HOST, OF_BOTH)) {
                Buffer place = buffer(device, params, 4 * COUNT);
                Fence before = fence();
                Fence first = before;
                submit(first, () -> queue(device).fill(null, first, place, 0, Buffer.WHOLE, 0, 4, 0));
                for (int i = 0; i < 4; i++) {
                    Fence last = before;
                    Fence refill = fence();
                    submit(refill, () -> queue(device).fill(last, refill, place, 0, Buffer.WHOLE, 0, 1, 0));
                    Fence done = fence();
                    submit(done, () -> queue(device).execute(refill, done, commands, BindingTable.of(place), 0));
                    check(done, place, DISPATCHES);
                    before = done;
                }
            }
        }

        /** The last stage is submitted first, each on any queue. */
        private void backwards(StreamDevice device) {
            Executable kernels = kernels(device);
            Buffer first = buffer(device, OF_DEVICE, 4 * COUNT);
            Buffer second = buffer(device, OF_DEVICE, 4 * COUNT);
            Buffer result = buffer(device, OF_HOST, 4 * COUNT);
            List<Fence> done = List.of(fence(), fence(), fence(), fence(), fence());
            submit(done.get(4), () -> queue(device).hostCall(done.get(3), done.get(4), () -> {}, 0));
            submit(
                    done.get(3),
                    () -> queue(device).copy(done.get(2), done.get(3), second, 0, result, 0, Buffer.WHOLE, 0));
            submit(
                    done.get(2),
                    () -> queue(device)
                            .dispatch(
                                    done.get(1),
                                    done.get(2),
                                    kernels,
                                    JavaKernels.SCALE,
                                    DispatchConfig.of(COUNT, 1, 1),
                                    new int[] {3, 4},
                                    BindingTable.of(first, second),
                                    0));
            submit(
                    done.get(1),
                    () -> queue(device).fill(done.get(0), done.get(1), first, 0, Buffer.WHOLE, 0x00050006, 4, 0));
            submit(done.get(0), () -> queue(device).fill(null, done.get(0), first, 0, Buffer.WHOLE, 9, 2, 0));
            check(done.get(4), result, 3 * 0x00050006 + 4);
        }

        /** Memory of the host, of a peer, and of others. */
        private void foreign(StreamDevice device, StreamDevice peer, Arena arena) {
            MemorySegment own = arena.allocate(8192, 4096);
            Buffer host = closed(device.allocator().importHost(OF_HOST, own.asSlice(4096, 4096), null));
            Buffer other = buffer(peer, OF_DEVICE, 4 * COUNT);
            Fence filled = fence();
            submit(filled, () -> queue(peer).fill(null, filled, other, 0, Buffer.WHOLE, 77, 4, 0));
            filled.await(LONG);
            Fence copied = fence();
            Optional<String> obstacle = device.memoryObstacle(peer);
            if (obstacle.isEmpty()) {
                submit(copied, () -> queue(device).copy(filled, copied, other, 0, host, 0, 4 * COUNT, 0));
                copied.await(LONG);
                assertThat(own.get(ValueLayout.JAVA_INT, 4096 + 4 * COUNT - 4))
                        .as(name)
                        .isEqualTo(77);
            } else {
                fences.remove(copied);
                failures.add(obstacle.get());
            }
            long address = GpuDrivers.handle(device).allocateMemory(4 * COUNT, false);
            try {
                Fence done = fence();
                try (Buffer imported = device.allocator().importDevice(OF_DEVICE, address, 4 * COUNT, null)) {
                    submit(done, () -> queue(device).fill(null, done, imported, 0, Buffer.WHOLE, 5, 4, 0));
                    step(() -> done.await(LONG));
                } catch (IreeException e) {
                    done.fail(e);
                    throw e;
                }
            } finally {
                GpuDrivers.handle(device).freeMemory(address, false);
            }
        }

        /** Large memory, allocated and released by queues, one after the other. */
        private void inQueueOrder(StreamDevice device) {
            Fence before = null;
            for (int i = 0; i < 3; i++) {
                Fence allocated = fence();
                Fence filled = fence();
                Fence released = fence();
                Fence last = before;
                long size = (18L + i) << 20;
                Buffer[] large = new Buffer[1];
                submit(allocated, () -> large[0] = closed(queue(device).alloca(last, allocated, OF_DEVICE, size, 0)));
                if (large[0] == null) {
                    fences.removeAll(List.of(filled, released));
                    return;
                }
                submit(filled, () -> queue(device).fill(allocated, filled, large[0], 8, 16, 0x0807060504030201L, 8, 0));
                submit(released, () -> queue(device).dealloca(filled, released, large[0], 0));
                before = released;
            }
            Fence last = before;
            step(() -> last.await(LONG));
        }

        private void indirect(StreamDevice device) {
            Executable kernels = kernels(device);
            Buffer counts = closed(device.allocator()
                    .allocate(
                            new BufferParams(
                                    OF_HOST.memoryType(), OF_HOST.usage() | BufferUsage.DISPATCH_INDIRECT_PARAMETERS),
                            12));
            Buffer place = buffer(device, OF_HOST, 4 * COUNT);
            counts.write(0, MemorySegment.ofArray(new int[] {COUNT, 1, 1}));
            place.write(0, MemorySegment.ofArray(new int[COUNT]));
            CommandBuffer commands = closed(device.createCommandBuffer(0, CommandBuffer.DISPATCH, 1, 0));
            commands.dispatchIndirect(
                    kernels,
                    JavaKernels.SCALE,
                    BufferRef.of(counts),
                    new int[] {1, 8},
                    List.of(BufferRef.of(place), BufferRef.of(place)),
                    DeviceQueue.DISPATCH_DYNAMIC_INDIRECT_PARAMETERS);
            commands.finish();
            Fence done = fence();
            submit(done, () -> queue(device).execute(null, done, commands, null, 0));
            check(done, place, 8);
        }
    }
}
