package io.github.iree4j.hal.vulkan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

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
import io.github.iree4j.hal.record.RecordedCommandBuffer;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.VulkanOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.hal.stream.StreamDevices;
import io.github.iree4j.nativeaccess.vulkan.VulkanFeature;
import io.github.iree4j.nativeaccess.vulkan.VulkanWords;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** STREAM-5: how the Vulkan device executes command buffers, beyond the contract of all devices. */
@ExtendWith(NothingWrong.class)
class VulkanCommandBufferTest {
    private static final int BOTH = CommandBuffer.TRANSFER | CommandBuffer.DISPATCH;
    private static final int[] NONE = {};

    private StreamDevice device;
    private DeviceQueue queue;
    private final List<AutoCloseable> open = new ArrayList<>();

    @BeforeEach
    void openDevice() {
        device = VulkanDrivers.open(DeviceOptions.builder().with(VulkanOptions.DEFAULTS.compiledCode("off")));
        queue = device.queue(0);
    }

    @AfterEach
    void closeDevice() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
        if (device != null) {
            device.close();
        }
    }

    private <T extends AutoCloseable> T closed(T resource) {
        open.add(resource);
        return resource;
    }

    private Buffer buffer(byte[] contents) {
        BufferParams params = new BufferParams(
                MemoryType.HOST_VISIBLE | MemoryType.DEVICE_VISIBLE,
                BufferUsage.DEFAULT | BufferUsage.DISPATCH_UNIFORM_READ | BufferUsage.DISPATCH_INDIRECT_PARAMETERS);
        return closed(device.allocator().allocate(params, MemorySegment.ofArray(contents)));
    }

    private Buffer ints(int... values) {
        return buffer(MemorySegment.ofArray(values).toArray(ValueLayout.JAVA_BYTE));
    }

    private Buffer floats(float... values) {
        return buffer(MemorySegment.ofArray(values).toArray(ValueLayout.JAVA_BYTE));
    }

    private static byte[] bytes(Buffer buffer) {
        byte[] target = new byte[(int) buffer.length()];
        buffer.read(0, MemorySegment.ofArray(target));
        return target;
    }

    private static int[] readInts(Buffer buffer) {
        return MemorySegment.ofArray(bytes(buffer)).toArray(ValueLayout.JAVA_INT_UNALIGNED);
    }

    private static float[] readFloats(Buffer buffer) {
        return MemorySegment.ofArray(bytes(buffer)).toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
    }

    private Executable load(ExecutableParams params) {
        return closed(device.createExecutable(params));
    }

    private Executable kernel(String name) {
        return load(SpirvExecutables.params(name));
    }

    private RecordedCommandBuffer commands(int modes, int slots) {
        return (RecordedCommandBuffer) closed(device.createCommandBuffer(modes, BOTH, -1, slots));
    }

    private Fence fence() {
        return closed(Fence.at(closed(device.createSemaphore(0, 0)), 1));
    }

    /** The counters of native work on the device so far. */
    private NativeCounters counters() {
        return ((VulkanEncoder) StreamDevices.encoder(device)).counters();
    }

    private void run(CommandBuffer commands, Buffer... slots) {
        Fence done = fence();
        queue.execute(null, done, commands, BindingTable.of(slots), 0);
        done.await();
    }

    private void dispatch(Executable executable, int workgroups, int[] constants, Buffer... bindings) {
        Fence done = fence();
        queue.dispatch(
                null,
                done,
                executable,
                0,
                DispatchConfig.of(workgroups, 1, 1),
                constants,
                BindingTable.of(bindings),
                0);
        done.await();
    }

    private static void barrier(CommandBuffer commands) {
        commands.executionBarrier(CommandBuffer.STAGE_COMMAND_RETIRE, CommandBuffer.STAGE_COMMAND_ISSUE, 0);
    }

    private static BufferRef slot(int slot) {
        return BufferRef.slot(slot, 0, Buffer.WHOLE);
    }

    // ---- Shaders.

    @Test
    void passesConstantsAndBindings() {
        Buffer out = floats(new float[4]);
        dispatch(kernel("add"), 1, NONE, floats(1, 2, 3, 4), floats(10, 20, 30, 40), out);
        assertThat(readFloats(out)).containsExactly(11, 22, 33, 44);
        int[] constants = {3, Float.floatToIntBits(2), Float.floatToIntBits(0.5f)};
        Buffer scaled = floats(7, 7, 7, 7);
        dispatch(kernel("scale"), 1, constants, floats(1, 2, 3, 4), scaled);
        assertThat(readFloats(scaled)).containsExactly(2.5f, 4.5f, 6.5f, 7);
    }

    @Test
    void specialisesExecutables() {
        Buffer marks = ints(0, 0);
        dispatch(load(SpirvExecutables.specialized(new int[] {7, 9}, "mark")), 2, NONE, marks);
        assertThat(readInts(marks)).containsExactly(7009, 7010);
        dispatch(load(SpirvExecutables.specialized(new int[] {5}, "mark")), 2, NONE, marks);
        assertThat(readInts(marks)).containsExactly(5002, 5003);
        dispatch(load(SpirvExecutables.specialized(new int[] {8, 4}, "sized")), 2, NONE, marks);
        assertThat(readInts(marks)).containsExactly(32, 32);
    }

    @Test
    void bindsSeveralSetsArraysAndUniforms() {
        Buffer out = ints(0, 0, 0, 0);
        dispatch(kernel("gather"), 1, NONE, ints(1000), ints(1, 2, 3, 4), ints(10, 20, 30, 40), out);
        assertThat(readInts(out)).containsExactly(1011, 1022, 1033, 1044);
    }

    @Test
    void runsSubgroupsOfTheSizeNeededByTheExecutable() {
        int size = VulkanDrivers.handle(device).properties().limits().subgroupSize();
        Buffer counts = ints(new int[64]);
        dispatch(kernel("subgroup_sum"), 1, NONE, counts);
        assertThat(readInts(counts)[0]).isEqualTo(Math.min(64, size));
        dispatch(load(SpirvExecutables.withSubgroupSize(size, "subgroup_sum")), 1, NONE, counts);
        assertThat(Arrays.stream(readInts(counts)).sum()).isEqualTo(64);
    }

    @Test
    void sharesMemoryInAWorkgroup() {
        float[] values = new float[128];
        for (int i = 0; i < values.length; i++) {
            values[i] = i;
        }
        Buffer out = floats(0, 0);
        dispatch(kernel("sum"), 2, NONE, floats(values), out);
        assertThat(readFloats(out)).containsExactly(63 * 32, 63 * 32 + 64 * 64);
    }

    @Test
    void readsAndWritesSmallIntegers() {
        assumeTrue(VulkanDrivers.handle(device).has(VulkanFeature.SHADER_INT8), "the device has no 8-bit integers");
        byte[] values = new byte[16];
        for (int i = 0; i < values.length; i++) {
            values[i] = (byte) (i * 17);
        }
        Buffer eight = buffer(new byte[16]);
        Buffer sixteen = buffer(new byte[32]);
        dispatch(kernel("bytes"), 1, NONE, buffer(values), eight, sixteen);
        for (int i = 0; i < values.length; i++) {
            assertThat(bytes(eight)[i]).isEqualTo((byte) (values[i] + 1));
            assertThat(bytes(sixteen)[2 * i]).isZero();
            assertThat(bytes(sixteen)[2 * i + 1]).isEqualTo(values[i]);
        }
    }

    @Test
    void countsWorkgroups() {
        Buffer count = ints(0);
        dispatch(kernel("count"), 1000, NONE, count);
        dispatch(kernel("count"), 0, NONE, count);
        assertThat(readInts(count)).containsExactly(1000);
    }

    @Test
    void bindsBuffersOfNothing() {
        Buffer out = floats(5, 5, 5, 5);
        BindingTable table = new BindingTable().add(out, 0, 0).add(out, 16, 0).add(out, 0, 0);
        Fence done = fence();
        queue.dispatch(null, done, kernel("add"), 0, DispatchConfig.of(0, 1, 1), NONE, table, 0);
        done.await();
        Fence second = fence();
        queue.dispatch(
                null,
                second,
                kernel("scale"),
                0,
                DispatchConfig.of(1, 1, 1),
                new int[3],
                new BindingTable().add(out, 0, 0).add(out, 16, 0),
                0);
        second.await();
        assertThat(readFloats(out)).containsExactly(5, 5, 5, 5);
    }

    // ---- Reuse.

    @Test
    void otherBindingsAreWrittenAndNothingIsRecorded() {
        RecordedCommandBuffer commands = commands(0, 2);
        Executable scale = kernel("scale");
        int[] constants = {2, Float.floatToIntBits(3), 0};
        commands.dispatch(scale, 0, DispatchConfig.of(1, 1, 1), constants, List.of(slot(0), slot(1)), 0);
        barrier(commands);
        commands.dispatch(scale, 0, DispatchConfig.of(1, 1, 1), constants, List.of(slot(1), slot(1)), 0);
        commands.finish();
        for (int i = 1; i <= 20; i++) {
            Buffer out = floats(0, 0);
            run(commands, floats(i, -i), out);
            assertThat(readFloats(out)).containsExactly(9 * i, -9 * i);
        }
        NativeCounters counters = counters();
        assertThat(counters.madeCount()).isOne();
        assertThat(counters.recordedCount()).isOne();
        assertThat(counters.reboundCount()).isEqualTo(19);
        Buffer in = floats(1, 2);
        Buffer out = floats(0, 0);
        run(commands, in, out);
        run(commands, in, out);
        run(commands, in, out);
        assertThat(counters.reusedCount()).isEqualTo(2);
        assertThat(counters.recordedCount()).isOne();
    }

    @Test
    void addressesAreWrittenAndNothingIsRecorded() {
        assumeTrue(
                VulkanDrivers.handle(device).has(VulkanFeature.BUFFER_DEVICE_ADDRESS),
                "the device has no buffer addresses");
        RecordedCommandBuffer commands = commands(0, 2);
        Executable scale = load(SpirvExecutables.addresses());
        int[] constants = {3, Float.floatToIntBits(2)};
        commands.dispatch(scale, 0, DispatchConfig.of(1, 1, 1), constants, List.of(slot(0), slot(1)), 0);
        barrier(commands);
        // An offset that is invalid for descriptors.
        BufferRef part = BufferRef.slot(1, 4, 8);
        commands.dispatch(
                scale, 0, DispatchConfig.of(1, 1, 1), new int[] {1, Float.floatToIntBits(10)}, List.of(part, part), 0);
        commands.finish();
        for (int i = 1; i <= 10; i++) {
            Buffer out = floats(0, 0, 0);
            run(commands, floats(i, 2 * i, 3 * i), out);
            assertThat(readFloats(out)).containsExactly(2 * i, 40 * i, 6 * i);
        }
        assertThat(counters().recordedCount()).isOne();
        assertThat(counters().reboundCount()).isEqualTo(9);
        Buffer in = floats(1, 2, 3);
        Buffer out = floats(0, 0, 0);
        run(commands, in, out);
        run(commands, in, out);
        assertThat(counters().reusedCount()).as("with the same buffers").isOne();
    }

    @Test
    void unalignedAddressesAreRefused() {
        assumeTrue(
                VulkanDrivers.handle(device).has(VulkanFeature.BUFFER_DEVICE_ADDRESS),
                "the device has no buffer addresses");
        Executable scale = load(SpirvExecutables.addresses());
        BindingTable table = new BindingTable().add(ints(1, 2), 2, 4).add(ints(1, 2), 0, 4);
        assertFails(
                fence -> queue.dispatch(null, fence, scale, 0, DispatchConfig.of(1, 1, 1), new int[2], table, 0),
                StatusCode.INVALID_ARGUMENT,
                "binding 0 of dispatch 'bda_scale' is at address 0x");
    }

    /** By dispatches and by executions. */
    @Test
    void bytesAtAddressesAreAsManyAsTheExecutableNeeds() {
        assumeTrue(
                VulkanDrivers.handle(device).has(VulkanFeature.BUFFER_DEVICE_ADDRESS),
                "the device has no buffer addresses");
        byte[] needy = SpirvExecutables.packAddresses("bda_scale", 2, new int[] {4, 4}, new long[] {8, 12});
        Executable scale = load(new ExecutableParams(SpirvExecutables.ADDRESSES, MemorySegment.ofArray(needy)));
        int[] constants = {2, Float.floatToIntBits(3)};
        DispatchConfig one = DispatchConfig.of(1, 1, 1);
        RecordedCommandBuffer commands = commands(0, 2);
        commands.dispatch(scale, 0, one, constants, List.of(slot(0), slot(1)), 0);
        commands.finish();
        Buffer in = floats(1, 2);
        Buffer out = floats(0, 0, 0, 0);
        run(commands, in, out);
        assertThat(readFloats(out)).containsExactly(3, 6, 0, 0);
        BindingTable few = new BindingTable().add(in, 0, 8).add(out, 0, 8);
        String message = "binding 1 of dispatch 'bda_scale' has 8 bytes, it needs at least 12";
        assertFails(fence -> queue.execute(null, fence, commands, few, 0), StatusCode.OUT_OF_RANGE, message);
        assertFails(
                fence -> queue.dispatch(null, fence, scale, 0, one, constants, few, 0),
                StatusCode.OUT_OF_RANGE,
                message);
        BindingTable odd = new BindingTable().add(in, 0, 8).add(out, 2, 12);
        assertFails(
                fence -> queue.execute(null, fence, commands, odd, 0),
                StatusCode.INVALID_ARGUMENT,
                "it must be a multiple of 4");
    }

    /** More scratch memory and descriptors than in a single block. */
    @Test
    void thousandsOfDeferredTransfersAndDispatchesRun() {
        int count = 3000;
        Buffer bytes = buffer(new byte[count]);
        Buffer counted = ints(0, 0);
        Executable counting = kernel("count");
        RecordedCommandBuffer commands = commands(0, 1);
        commands.dispatch(counting, 0, DispatchConfig.of(1, 1, 1), NONE, List.of(slot(0)), 0);
        commands.finish();
        TimelineSemaphore gate = closed(device.createSemaphore(0, 0));
        Fence open = closed(Fence.at(gate, 1));
        List<Fence> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            for (int kind = 0; kind < 3; kind++) {
                all.add(fence());
                switch (kind) {
                    case 0 -> queue.fill(open, all.getLast(), bytes, i, 1, 0x5A, 1, 0);
                    case 1 ->
                        queue.dispatch(
                                open,
                                all.getLast(),
                                counting,
                                0,
                                DispatchConfig.of(1, 1, 1),
                                NONE,
                                BindingTable.of(counted),
                                0);
                    default -> queue.execute(open, all.getLast(), commands, BindingTable.of(counted), 0);
                }
            }
        }
        gate.signal(1);
        all.forEach(Fence::await);
        assertThat(bytes(bytes)).containsOnly(0x5A);
        assertThat(readInts(counted)).startsWith(2 * count);
    }

    @Test
    void transfersAreRecordedAgainWhenTheirSlotsChange() {
        RecordedCommandBuffer commands = commands(0, 1);
        commands.fillBuffer(slot(0), 0xAB, 1, 0);
        commands.finish();
        Buffer first = buffer(new byte[7]);
        run(commands, first);
        run(commands, first);
        assertThat(counters().recordedCount()).isOne();
        Buffer second = buffer(new byte[5]);
        run(commands, second);
        assertThat(counters().recordedCount()).isEqualTo(2);
        byte[] expected = new byte[5];
        Arrays.fill(expected, (byte) 0xAB);
        assertThat(bytes(second)).containsExactly(expected);
    }

    @Test
    void overlappingExecutionsHaveSeparateCommands() {
        RecordedCommandBuffer commands = commands(0, 1);
        commands.dispatch(kernel("increment"), 0, DispatchConfig.of(1, 1, 1), new int[] {1}, List.of(slot(0)), 0);
        commands.finish();
        TimelineSemaphore gate = closed(device.createSemaphore(0, 0));
        int count = 20;
        Buffer[] buffers = new Buffer[count];
        Fence[] done = new Fence[count];
        for (int i = 0; i < count; i++) {
            buffers[i] = ints(i);
            done[i] = fence();
            queue.execute(closed(Fence.at(gate, 1)), done[i], commands, BindingTable.of(buffers[i]), 0);
        }
        gate.signal(1);
        for (int i = 0; i < count; i++) {
            done[i].await();
            assertThat(readInts(buffers[i])).containsExactly(i + 1);
        }
        assertThat(counters().madeCount()).isEqualTo(count);
        run(commands, buffers[0]);
        assertThat(counters().madeCount()).as("kept transfers are used again").isEqualTo(count);
    }

    // ---- Recorded barriers.

    private List<String> words(RecordedCommandBuffer commands) {
        List<String> result = new ArrayList<>();
        StreamDevices.withForm(commands, queue, form -> read(((VulkanForm) form).written(), result));
        return result;
    }

    private static void read(CommandEncoder encoder, List<String> result) {
        int at = 0;
        MemorySegment words = encoder.words();
        while (at < encoder.count()) {
            long op = words.getAtIndex(ValueLayout.JAVA_LONG, at);
            if (op == VulkanWords.BARRIER) {
                result.add("barrier %x/%x -> %x/%x"
                        .formatted(
                                words.getAtIndex(ValueLayout.JAVA_LONG, at + 1),
                                words.getAtIndex(ValueLayout.JAVA_LONG, at + 2),
                                words.getAtIndex(ValueLayout.JAVA_LONG, at + 3),
                                words.getAtIndex(ValueLayout.JAVA_LONG, at + 4)));
                at += 5;
            } else if (op == VulkanWords.FILL) {
                result.add("fill");
                at += 5;
            } else if (op == VulkanWords.COPY) {
                result.add("copy");
                at += 6;
            } else {
                long mode = words.getAtIndex(ValueLayout.JAVA_LONG, at + 2);
                long bindings = words.getAtIndex(ValueLayout.JAVA_LONG, at + 3);
                at += (int) (4 + 3 * bindings);
                long push = words.getAtIndex(ValueLayout.JAVA_LONG, at + 1);
                at += (int) (2 + (push + 7) / 8) + (op == VulkanWords.DISPATCH ? 3 : 2);
                result.add((op == VulkanWords.DISPATCH ? "dispatch" : "indirect")
                        + (mode == VulkanWords.MODE_PUSH ? " pushed" : mode == VulkanWords.MODE_SETS ? " sets" : ""));
            }
        }
    }

    private static final String BEGIN = "barrier 10000/10000 -> 10000/18000";

    @Test
    void barriersNameTheKindsOnBothSides() {
        RecordedCommandBuffer commands = commands(0, 2);
        Executable increment = kernel("increment");
        barrier(commands); // nothing is before it
        commands.fillBuffer(BufferRef.slot(0, 0, 4), 1, 4, 0);
        barrier(commands);
        barrier(commands); // nothing is between them
        commands.dispatch(increment, 0, DispatchConfig.of(1, 1, 1), new int[] {2}, List.of(slot(0)), 0);
        commands.dispatch(increment, 0, DispatchConfig.of(1, 1, 1), new int[] {2}, List.of(slot(1)), 0);
        barrier(commands);
        commands.dispatch(increment, 0, DispatchConfig.of(1, 1, 1), new int[] {3}, List.of(slot(0)), 0);
        barrier(commands);
        commands.copyBuffer(BufferRef.slot(0, 0, 4), BufferRef.slot(1, 0, 4), 0);
        barrier(commands); // nothing is after it
        commands.finish();
        Buffer a = ints(100);
        Buffer b = ints(100);
        run(commands, a, b);
        assertThat(readInts(b)).containsExactly(6);
        assertThat(words(commands))
                .containsExactly(
                        BEGIN,
                        "fill",
                        "barrier 1000/1000 -> 800/68", // transfer to compute
                        "dispatch sets",
                        "dispatch sets",
                        "barrier 800/40 -> 800/68", // compute to compute
                        "dispatch sets",
                        "barrier 1800/1040 -> 1000/1800", // fill and compute to transfer
                        "copy",
                        "barrier 1800/1040 -> 4000/2000"); // to the host
    }

    @Test
    void countsOfIndirectDispatchesAreOrdered() {
        RecordedCommandBuffer commands = commands(0, 2);
        commands.updateBuffer(MemorySegment.ofArray(new int[] {3, 2, 1}), BufferRef.slot(0, 0, 12), 0);
        barrier(commands);
        commands.dispatchIndirect(kernel("count"), 0, BufferRef.slot(0, 0, 12), NONE, List.of(slot(1)), 0);
        barrier(commands);
        commands.fillBuffer(BufferRef.slot(0, 0, 12), 0, 4, 0);
        commands.finish();
        Buffer counts = ints(0, 0, 0);
        Buffer out = ints(0);
        run(commands, counts, out);
        run(commands, counts, out);
        assertThat(readInts(out)).containsExactly(12);
        assertThat(readInts(counts)).containsExactly(0, 0, 0);
        assertThat(words(commands))
                .containsExactly(
                        BEGIN,
                        "copy",
                        "barrier 1000/1000 -> 802/69",
                        "indirect sets",
                        "barrier 1802/1040 -> 1000/1800",
                        "fill",
                        "barrier 1800/1040 -> 4000/2000");
    }

    @Test
    void constantBindingsAreRecorded() {
        assumeTrue(
                VulkanDrivers.handle(device).has(VulkanFeature.PUSH_DESCRIPTOR), "the device has no push descriptors");
        RecordedCommandBuffer commands = commands(0, 1);
        Buffer fixed = ints(5);
        Executable increment = kernel("increment");
        commands.dispatch(increment, 0, DispatchConfig.of(1, 1, 1), new int[] {2}, List.of(BufferRef.of(fixed)), 0);
        commands.dispatch(increment, 0, DispatchConfig.of(1, 1, 1), new int[] {2}, List.of(slot(0)), 0);
        commands.finish();
        Buffer changing = ints(1);
        run(commands, changing);
        assertThat(readInts(fixed)).containsExactly(7);
        assertThat(readInts(changing)).containsExactly(3);
        assertThat(words(commands)).contains("dispatch pushed", "dispatch sets");
        Buffer other = ints(1);
        run(commands, other);
        assertThat(readInts(fixed)).containsExactly(9);
        assertThat(readInts(other)).containsExactly(3);
        assertThat(counters().recordedCount()).isOne();
    }

    // ---- Refusals.

    private interface Submission {
        void submit(Fence fence);
    }

    private void assertFails(Submission submission, StatusCode code, String message) {
        Fence done = fence();
        assertThatThrownBy(() -> {
                    submission.submit(done);
                    done.await();
                })
                .isInstanceOf(IreeException.class)
                .hasMessageContaining(message)
                .extracting(e -> ((IreeException) e).code())
                .isEqualTo(code);
    }

    @Test
    void bindingsMustBeginAtPlacesAcceptedByTheDevice() {
        Executable add = kernel("add");
        Buffer a = floats(1, 2, 3, 4, 5, 6, 7, 8);
        long alignment = VulkanDrivers.handle(device).properties().limits().minStorageBufferOffsetAlignment();
        assumeTrue(alignment > 4, "the device accepts any offset");
        BindingTable table = new BindingTable().add(a, 0, 16).add(a, 4, 16).add(a, 0, 16);
        assertFails(
                fence -> queue.dispatch(null, fence, add, 0, DispatchConfig.of(1, 1, 1), NONE, table, 0),
                StatusCode.INVALID_ARGUMENT,
                "needs a multiple of " + alignment);
    }

    @Test
    void bindingsMustNotBeLongerThanTheDeviceTakes() {
        long limit = VulkanDrivers.handle(device).properties().limits().maxStorageBufferRange();
        assumeTrue(limit <= 256 << 20, "the limit exceeds the allocations of this test");
        BufferParams params = new BufferParams(MemoryType.DEVICE_VISIBLE, BufferUsage.DEFAULT);
        Buffer large = closed(device.allocator().allocate(params, limit + 256));
        assertFails(
                fence -> queue.dispatch(
                        null, fence, kernel("count"), 0, DispatchConfig.of(1, 1, 1), NONE, BindingTable.of(large), 0),
                StatusCode.OUT_OF_RANGE,
                "binding 0 of dispatch 'count' has %d bytes, device".formatted(limit + 256));
    }

    @Test
    void dispatchesMustFitTheCode() {
        RecordedCommandBuffer commands = commands(0, 1);
        Executable count = kernel("count");
        DispatchConfig sized = new DispatchConfig(1, 1, 1, 32, 1, 1, 0);
        assertThatThrownBy(() -> commands.dispatch(count, 0, sized, NONE, List.of(slot(0)), 0))
                .hasMessageContaining("asks for workgroups of 32x1x1, it was compiled for 1x1x1");
        DispatchConfig local = new DispatchConfig(1, 1, 1, 0, 0, 0, 64);
        assertThatThrownBy(() -> commands.dispatch(count, 0, local, NONE, List.of(slot(0)), 0))
                .hasMessageContaining("asks for 64 bytes of local memory");
        long limit = VulkanDrivers.handle(device).properties().limits().maxComputeWorkGroupCountY();
        assumeTrue(limit < 0xFFFF_FFFFL, "no count is too many");
        DispatchConfig many = DispatchConfig.of(1, (int) (limit + 1), 1);
        assertThatThrownBy(() -> commands.dispatch(count, 0, many, NONE, List.of(slot(0)), 0))
                .hasMessageContaining("workgroup count y of dispatch 'count' is %d, the limit is %d of device"
                        .formatted(limit + 1, limit));
    }

    @Test
    void objectsOfOtherDevicesAreRefused() {
        try (StreamDevice other =
                        VulkanDrivers.open(DeviceOptions.builder().with(VulkanOptions.DEFAULTS.compiledCode("off")));
                Executable foreign = other.createExecutable(SpirvExecutables.params("count"));
                CommandBuffer foreignCommands = other.createCommandBuffer(0, BOTH, -1, 0);
                Buffer foreignBuffer = other.allocator()
                        .allocate(new BufferParams(MemoryType.DEVICE_VISIBLE, BufferUsage.DEFAULT), 16)) {
            RecordedCommandBuffer commands = commands(0, 1);
            assertThatThrownBy(
                            () -> commands.dispatch(foreign, 0, DispatchConfig.of(1, 1, 1), NONE, List.of(slot(0)), 0))
                    .hasMessageContaining("executable of format 'vulkan-spirv-fb' was not created by device");
            assertThatThrownBy(() -> commands.fillBuffer(BufferRef.of(foreignBuffer), 0, 4, 0))
                    .hasMessageContaining("was not created by device");
            foreignCommands.finish();
            assertFails(
                    fence -> queue.execute(null, fence, foreignCommands, null, 0),
                    StatusCode.INVALID_ARGUMENT,
                    "command buffer was not created by");
            commands.dispatch(kernel("count"), 0, DispatchConfig.of(1, 1, 1), NONE, List.of(slot(0)), 0);
            commands.finish();
            assertFails(
                    fence -> queue.execute(null, fence, commands, BindingTable.of(foreignBuffer), 0),
                    StatusCode.INVALID_ARGUMENT,
                    "was not created by device");
        }
    }

    @Test
    void manyCommandsAreExecutedOnce() {
        RecordedCommandBuffer commands = commands(CommandBuffer.ONE_SHOT, 0);
        Buffer sum = ints(0);
        Executable increment = kernel("increment");
        IntStream.rangeClosed(1, 500).forEach(i -> {
            commands.dispatch(increment, 0, DispatchConfig.of(1, 1, 1), new int[] {i}, List.of(BufferRef.of(sum)), 0);
            barrier(commands);
        });
        commands.finish();
        run(commands);
        assertThat(readInts(sum)).containsExactly(500 * 501 / 2);
    }
}
