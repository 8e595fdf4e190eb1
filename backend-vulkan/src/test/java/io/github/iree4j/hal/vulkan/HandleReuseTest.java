package io.github.iree4j.hal.vulkan;

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
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.VulkanOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.nativeaccess.vulkan.VulkanAllocation;
import io.github.iree4j.nativeaccess.vulkan.VulkanFeature;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A command buffer executed again computes with its current buffers, even if the driver has reused handles and
 * addresses of freed buffers. Without the validation layer, which makes handles unique.
 */
class HandleReuseTest {
    private static final int ROUNDS = Effort.isBrief() ? 8 : 24;

    /** A buffer of at least this size is a separate driver allocation. */
    private static final long OWN_MEMORY = 17 << 20;

    /** Bytes of a buffer used by calls. */
    private static final long HEAD = 64;

    private static final long PAGE = 4096;

    private static final BufferParams VISIBLE = new BufferParams(
            MemoryType.HOST_VISIBLE | MemoryType.DEVICE_VISIBLE,
            BufferUsage.DEFAULT | BufferUsage.DISPATCH_INDIRECT_PARAMETERS);

    /** The command buffer of each round. */
    private record Program(ExecutableParams code, float factor, BiConsumer<CommandBuffer, Executable> record) {

        /** Scales the first slot into the second. */
        static Program scale(ExecutableParams code) {
            int[] constants = {4, Float.floatToIntBits(2), 0};
            return new Program(code, 2, (commands, kernel) -> {
                int[] own = kernel.export(0).constantCount() == 2 ? new int[] {4, Float.floatToIntBits(2)} : constants;
                commands.dispatch(kernel, 0, DispatchConfig.of(1, 1, 1), own, List.of(slot(0), slot(1)), 0);
            });
        }

        static Program copy() {
            return new Program(
                    SpirvExecutables.params("scale"), 1, (commands, _) -> commands.copyBuffer(slot(0), slot(1), 0));
        }
    }

    private static BufferRef slot(int slot) {
        return BufferRef.slot(slot, 0, Buffer.WHOLE);
    }

    @Test
    void theDriverOfThisMachineIsGivenTheBuffersOfEachCallByDescriptors() {
        onThisMachine(Program.scale(SpirvExecutables.params("scale")));
    }

    @Test
    void theDriverOfThisMachineIsGivenTheBuffersOfEachCallByAddresses() {
        try (StreamDevice device = VulkanDrivers.openWithoutLayer(DeviceOptions.builder())) {
            assumeTrue(VulkanDrivers.handle(device).has(VulkanFeature.BUFFER_DEVICE_ADDRESS), "no addresses here");
        }
        onThisMachine(Program.scale(SpirvExecutables.addresses()));
    }

    @Test
    void theDriverOfThisMachineIsGivenTheBuffersOfEachCallByTransfers() {
        onThisMachine(Program.copy());
    }

    private static void onThisMachine(Program program) {
        try (StreamDevice device = VulkanDrivers.openWithoutLayer(
                DeviceOptions.builder().with(VulkanOptions.DEFAULTS.compiledCode("off")))) {
            assumeTrue(
                    VulkanDrivers.handle(device).has(VulkanFeature.EXTERNAL_MEMORY_HOST),
                    "this driver does not import host memory");
            callWithImports(device, program);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "unified", "unified one_queue", "unified update_after_bind", "unified push"})
    void aDriverReusingHandlesAtOnceGetsTheBuffersOfEachCall(String settings, @TempDir Path directory) {
        FakeDriver fake = FakeDriver.in(directory, settings);
        try (StreamDevice device =
                fake.open(DeviceOptions.builder().with(VulkanOptions.DEFAULTS.compiledCode("off")))) {
            for (Program program : List.of(Program.scale(SpirvExecutables.params("scale")), Program.copy())) {
                callWithImports(device, program);
                callWithAllocations(device, program);
            }
            callWithImports(device, Program.scale(SpirvExecutables.addresses()));
        }
        fake.assertNothingToComplainOf();
    }

    @Test
    void theLibraryWithoutHardwareGivesHandlesAndAddressesOutAtOnce(@TempDir Path directory) {
        FakeDriver fake = FakeDriver.in(directory, "unified");
        Set<Long> handles = new HashSet<>();
        Set<Long> addresses = new HashSet<>();
        try (StreamDevice device =
                fake.open(DeviceOptions.builder().with(VulkanOptions.DEFAULTS.compiledCode("off")))) {
            for (int i = 0; i < 8; i++) {
                try (VulkanAllocation allocation = VulkanDrivers.handle(device).allocate(1024L >> i, 0, 0)) {
                    handles.add(allocation.buffer());
                    addresses.add(allocation.host());
                }
            }
        }
        assertThat(handles).as("handles of buffers, each freed before the next").hasSize(1);
        assertThat(addresses).as("where they were mapped").hasSize(1);
    }

    /** Memory of the host, outliving the driver's view: a call reading the wrong buffer finds the old contents. */
    private static void callWithImports(StreamDevice device, Program program) {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment[] in = {arena.allocate(PAGE, PAGE), arena.allocate(PAGE, PAGE), arena.allocate(PAGE, PAGE)};
            MemorySegment[] out = {arena.allocate(PAGE, PAGE), arena.allocate(PAGE, PAGE)};
            callAgainAndAgain(
                    device,
                    program,
                    round -> device.allocator().importHost(VISIBLE, in[round % in.length], null),
                    round -> device.allocator().importHost(VISIBLE, out[round % out.length], null));
        }
    }

    /**
     * Each buffer has separate memory, of another size than in the previous round: a reused handle names different
     * memory.
     */
    private static void callWithAllocations(StreamDevice device, Program program) {
        callAgainAndAgain(
                device,
                program,
                round -> device.allocator().allocate(VISIBLE, OWN_MEMORY + ((round % 3L) << 20)),
                round -> device.allocator().allocate(VISIBLE, OWN_MEMORY + ((round % 2L) << 20)));
    }

    private static void callAgainAndAgain(
            StreamDevice device, Program program, IntFunction<Buffer> ins, IntFunction<Buffer> outs) {
        try (Executable kernel = device.createExecutable(program.code());
                CommandBuffer commands =
                        device.createCommandBuffer(0, CommandBuffer.TRANSFER | CommandBuffer.DISPATCH, -1, 2)) {
            program.record().accept(commands, kernel);
            commands.finish();
            int wrong = 0;
            for (int round = 1; round <= ROUNDS; round++) {
                float[] values = {100 * round, 100 * round + 1, 100 * round + 2, 100 * round + 3};
                try (Buffer in = ins.apply(round);
                        Buffer out = outs.apply(round);
                        Buffer read = in.subspan(0, HEAD);
                        Buffer written = out.subspan(0, HEAD)) {
                    in.write(0, MemorySegment.ofArray(values));
                    run(device, commands, read, written);
                    float[] found = new float[4];
                    out.read(0, MemorySegment.ofArray(found));
                    wrong += IntStream.range(0, 4).allMatch(i -> found[i] == program.factor() * values[i]) ? 0 : 1;
                }
                device.allocator().trim();
            }
            assertThat(wrong).as("calls of %d with results of others", ROUNDS).isZero();
        }
    }

    private static void run(Device device, CommandBuffer commands, Buffer in, Buffer out) {
        try (TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                Fence done = Fence.at(timeline, 1)) {
            device.queue(0).execute(null, done, commands, BindingTable.of(in, out), 0);
            done.await();
        }
    }
}
