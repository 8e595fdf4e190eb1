package io.github.iree4j.hal.contract;

import static org.assertj.core.api.Assertions.assertThat;

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
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The contract of every backend's command buffers. */
public abstract class CommandBufferContract extends DeviceContract {
    private static final int BOTH = CommandBuffer.TRANSFER | CommandBuffer.DISPATCH;
    private static final int[] NONE = {};

    /** On a backend, closed after each test. */
    protected CommandBufferContract(Backend backend) {
        super(backend);
    }

    private CommandBuffer commands(int modes, int slots) {
        return closed(device.createCommandBuffer(modes, BOTH, -1, slots));
    }

    private Fence execute(CommandBuffer commands, @Nullable BindingTable table) {
        Fence done = fence();
        queue.execute(null, done, commands, table, 0);
        return done;
    }

    private void run(CommandBuffer commands, Buffer... slots) {
        execute(commands, BindingTable.of(slots)).await();
    }

    /** Without a barrier in between commands may run at once. */
    private static void barrier(CommandBuffer commands) {
        commands.executionBarrier(CommandBuffer.STAGE_COMMAND_RETIRE, CommandBuffer.STAGE_COMMAND_ISSUE, 0);
    }

    private static BufferRef slot(int slot) {
        return BufferRef.slot(slot, 0, Buffer.WHOLE);
    }

    @Test
    void executesCommandsInOrder() {
        Executable kernels = closed(kernels(device));
        Buffer a = ints(1, 2, 3, 4);
        Buffer b = ints(0, 0, 0, 0);
        Buffer out = ints(0, 0, 0, 0);
        CommandBuffer commands = commands(CommandBuffer.ONE_SHOT, 0);
        commands.beginDebugGroup("all");
        commands.fillBuffer(BufferRef.of(b), 10, 4, 0);
        barrier(commands);
        commands.updateBuffer(MemorySegment.ofArray(new int[] {100}), BufferRef.of(b, 4, 4), 0);
        commands.executionBarrier(CommandBuffer.STAGE_COMMAND_RETIRE, CommandBuffer.STAGE_COMMAND_ISSUE, 0);
        commands.dispatch(
                kernels,
                JavaKernels.ADD,
                DispatchConfig.of(4, 1, 1),
                NONE,
                List.of(BufferRef.of(a), BufferRef.of(b), BufferRef.of(out)),
                0);
        commands.executionBarrier(CommandBuffer.STAGE_COMMAND_RETIRE, CommandBuffer.STAGE_COMMAND_ISSUE, 0);
        commands.copyBuffer(BufferRef.of(out, 0, 8), BufferRef.of(a, 8, 8), 0);
        commands.adviseBuffer(BufferRef.of(a), 0, 0);
        commands.endDebugGroup();
        commands.finish();
        run(commands);
        assertThat(read(out)).containsExactly(11, 102, 13, 14);
        assertThat(read(a)).containsExactly(1, 2, 11, 102);
    }

    @Test
    void isReusedWithOtherBindings() {
        Executable kernels = closed(kernels(device));
        CommandBuffer commands = commands(0, 2);
        int first = 64; // bindings of shaders begin at multiples of up to 256 bytes
        commands.dispatch(
                kernels,
                JavaKernels.SCALE,
                DispatchConfig.of(2, 1, 1),
                new int[] {2, 1},
                List.of(slot(0), BufferRef.slot(1, 4 * first, 8)),
                0);
        commands.finish();
        for (int i = 0; i < 50; i++) {
            Buffer out = ints(new int[first + 2]);
            run(commands, ints(i, -i), out);
            int[] expected = new int[first + 2];
            expected[first] = 2 * i + 1;
            expected[first + 1] = -2 * i + 1;
            assertThat(read(out)).containsExactly(expected);
        }
    }

    @Test
    void slotsMayBePartsOfBuffers() {
        CommandBuffer commands = commands(0, 2);
        commands.copyBuffer(BufferRef.slot(0, 4, Buffer.WHOLE), BufferRef.slot(1, 0, Buffer.WHOLE), 0);
        barrier(commands);
        commands.fillBuffer(BufferRef.slot(1, 4, Buffer.WHOLE), 9, 4, 0);
        barrier(commands);
        commands.updateBuffer(MemorySegment.ofArray(new int[] {8}), BufferRef.slot(1, 8, 4), 0);
        commands.finish();
        Buffer source = ints(1, 2, 3, 4, 5, 6);
        Buffer target = ints(0, 0, 0, 0, 0, 0);
        Buffer sourcePart = closed(source.subspan(4, 16));
        Buffer targetPart = closed(target.subspan(8, 16));
        execute(commands, new BindingTable().add(sourcePart, 4, 8).add(targetPart, 4, Buffer.WHOLE))
                .await();
        assertThat(read(target)).containsExactly(0, 0, 0, 4, 9, 8);
    }

    @Test
    void dispatchesAsManyWorkgroupsAsABufferSays() {
        Executable kernels = closed(kernels(device));
        CommandBuffer commands = commands(0, 2);
        commands.dispatchIndirect(
                kernels,
                JavaKernels.COORDINATES,
                BufferRef.slot(0, 4, 12),
                NONE,
                List.of(slot(1)),
                DeviceQueue.DISPATCH_DYNAMIC_INDIRECT_PARAMETERS);
        commands.finish();
        Buffer out = ints(-1, -1, -1, -1, -1);
        run(commands, ints(99, 2, 2, 1), out);
        assertThat(read(out)).containsExactly(0, 1, 256, 257, -1);
        Buffer untouched = ints(-1);
        run(commands, ints(99, 2, 0, 1), untouched);
        assertThat(read(untouched)).containsExactly(-1);
        if (!backend.has(Capability.HOST_KERNELS)) {
            return; // the counts are not checked before the device reads them
        }
        Fence many = execute(commands, BindingTable.of(ints(99, 1, 1, 1 << 16), untouched));
        assertFails(many, StatusCode.OUT_OF_RANGE, "workgroup count z of dispatch 'coordinates' is 65536");
    }

    @Test
    void aCountOfZeroRecordsNothing() {
        Executable kernels = closed(kernels(device));
        CommandBuffer commands = commands(0, 0);
        commands.dispatch(kernels, JavaKernels.FAIL, DispatchConfig.of(0, 5, 5), NONE, List.of(), 0);
        commands.finish();
        run(commands);
    }

    @Test
    void aFailingCommandFailsTheSignalAndKeepsNothing() {
        assume(Capability.FAILING_KERNELS);
        Executable kernels = closed(kernels(device));
        CommandBuffer failing = commands(0, 1);
        failing.fillBuffer(slot(0), 7, 4, 0);
        failing.dispatch(kernels, JavaKernels.FAIL, DispatchConfig.of(1, 1, 1), NONE, List.of(), 0);
        failing.finish();
        Buffer buffer = ints(0);
        boolean isOfHost = backend.has(Capability.HOST_KERNELS); // else the device is lost
        for (int i = 0; i < 3; i++) { // the command buffer stays usable
            Fence done = closed(Fence.adopt(TimelineSemaphore.create(0), 1));
            queue.execute(null, done, failing, BindingTable.of(buffer), 0);
            assertFails(
                    done,
                    isOfHost ? StatusCode.DATA_LOSS : StatusCode.ABORTED,
                    isOfHost ? "kernel failed on purpose" : "is lost");
        }
        buffer.close();
        assertThat(buffer.isLive()).as("a failed execution keeps nothing").isFalse();
    }

    @Test
    void oneShotRunsOnce() {
        CommandBuffer commands = commands(CommandBuffer.ONE_SHOT, 0);
        commands.finish();
        run(commands);
        assertFails(execute(commands, null), StatusCode.FAILED_PRECONDITION, "submitted a second time");
    }

    @Test
    void mustBeFinishedBeforeAndNotRecordedAfter() {
        CommandBuffer commands = commands(0, 0);
        assertFails(execute(commands, null), StatusCode.FAILED_PRECONDITION, "still recording");
        commands.beginDebugGroup("open");
        assertFails(StatusCode.FAILED_PRECONDITION, "1 debug groups", commands::finish);
        commands.endDebugGroup();
        assertFails(StatusCode.FAILED_PRECONDITION, "no debug group", commands::endDebugGroup);
        commands.finish();
        assertThat(commands.isFinished()).isTrue();
        assertFails(StatusCode.FAILED_PRECONDITION, "cannot record", commands::finish);
        assertFails(StatusCode.FAILED_PRECONDITION, "cannot record", () -> commands.executionBarrier(1, 1, 0));
    }

    @Test
    void categoriesLimitCommands() {
        CommandBuffer transfer = closed(device.createCommandBuffer(0, CommandBuffer.TRANSFER, -1, 0));
        Executable kernels = closed(kernels(device));
        assertFails(
                StatusCode.INVALID_ARGUMENT,
                "dispatch needs a command buffer of category DISPATCH",
                () -> transfer.dispatch(kernels, JavaKernels.FAIL, DispatchConfig.of(1, 1, 1), NONE, List.of(), 0));
        CommandBuffer dispatch = closed(device.createCommandBuffer(0, CommandBuffer.DISPATCH, -1, 0));
        assertFails(
                StatusCode.INVALID_ARGUMENT,
                "fill needs a command buffer of category TRANSFER",
                () -> dispatch.fillBuffer(BufferRef.of(ints(0)), 0, 4, 0));
        assertFails(
                StatusCode.INVALID_ARGUMENT, "binding capacity -1", () -> device.createCommandBuffer(0, BOTH, -1, -1));
    }

    @Test
    void recordingChecksTheKnownFacts() {
        Executable kernels = closed(kernels(device));
        CommandBuffer commands = commands(0, 1);
        Buffer buffer = ints(1, 2);
        DispatchConfig one = DispatchConfig.of(1, 1, 1);
        assertFails(
                StatusCode.OUT_OF_RANGE,
                "fill target [4, 12) does not fit buffer of 8 bytes",
                () -> commands.fillBuffer(BufferRef.of(buffer, 4, 8), 0, 4, 0));
        assertFails(
                StatusCode.OUT_OF_RANGE,
                "fill target uses slot 1, the command buffer was created with 1",
                () -> commands.fillBuffer(slot(1), 0, 4, 0));
        assertFails(
                StatusCode.OUT_OF_RANGE,
                "fill target has offset -4",
                () -> commands.fillBuffer(BufferRef.slot(0, -4, 4), 0, 4, 0));
        assertFails(
                StatusCode.OUT_OF_RANGE,
                "binding 1 of dispatch 'scale' [4, 12) does not fit buffer of 8 bytes",
                () -> commands.dispatch(
                        kernels,
                        JavaKernels.SCALE,
                        one,
                        new int[2],
                        List.of(BufferRef.of(buffer), BufferRef.of(buffer, 4, 8)),
                        0));
        assertFails(
                StatusCode.INVALID_ARGUMENT,
                "passes 1 constants, the export takes 2",
                () -> commands.dispatch(kernels, JavaKernels.SCALE, one, new int[1], List.of(slot(0), slot(0)), 0));
        assertFails(
                StatusCode.INVALID_ARGUMENT,
                "passes 1 bindings, the export takes 2",
                () -> commands.dispatch(kernels, JavaKernels.SCALE, one, new int[2], List.of(slot(0)), 0));
        assertFails(
                StatusCode.UNIMPLEMENTED,
                "custom arguments",
                () -> commands.dispatch(
                        kernels, JavaKernels.FAIL, one, NONE, List.of(), DeviceQueue.DISPATCH_CUSTOM_DIRECT_ARGUMENTS));
        assertFails(
                StatusCode.INVALID_ARGUMENT,
                "update of 65540 bytes exceeds the limit of 65536",
                () -> commands.updateBuffer(MemorySegment.ofArray(new byte[65540]), slot(0), 0));
        assertFails(
                StatusCode.INVALID_ARGUMENT,
                "overlap",
                () -> commands.copyBuffer(BufferRef.of(buffer, 0, 4), BufferRef.of(buffer, 2, 4), 0));
        assertFails(
                StatusCode.INVALID_ARGUMENT,
                "does not match its target",
                () -> commands.copyBuffer(BufferRef.of(buffer, 0, 4), BufferRef.of(buffer, 4, 2), 0));
        Buffer noIndirect = closed(device.allocator().allocate(BufferParams.DEFAULT, 12));
        assertFails(
                StatusCode.PERMISSION_DENIED,
                "workgroup counts needs a buffer with usage DISPATCH_INDIRECT_PARAMETERS",
                () -> commands.dispatchIndirect(
                        kernels, JavaKernels.FAIL, BufferRef.of(noIndirect), NONE, List.of(), 0));
        commands.finish();
        run(commands);
    }

    @Test
    void updatesMayHaveAnyLength() {
        Buffer target = ints(0, 0, 0, 0);
        CommandBuffer commands = commands(0, 1);
        commands.updateBuffer(MemorySegment.ofArray(new byte[] {1, 2, 3}), BufferRef.of(target, 0, 3), 0);
        commands.updateBuffer(MemorySegment.ofArray(new byte[0]), BufferRef.of(target, 3, 0), 0);
        commands.updateBuffer(MemorySegment.ofArray(new byte[] {4, 5, 6, 7, 8}), BufferRef.slot(0, 3, 5), 0);
        commands.updateBuffer(MemorySegment.ofArray(new int[] {9}), BufferRef.of(target, 12, 4), 0);
        commands.finish();
        run(commands, target);
        assertThat(read(target)).containsExactly(0x04030201, 0x08070605, 0, 9);
        CommandBuffer nothing = commands(0, 0);
        nothing.updateBuffer(MemorySegment.ofArray(new byte[0]), BufferRef.of(target, 3, 0), 0);
        nothing.finish();
        run(nothing);
        assertThat(read(target)).containsExactly(0x04030201, 0x08070605, 0, 9);
    }

    @Test
    void closedCodeIsNotRecorded() {
        Executable kernels = kernels(device);
        kernels.close();
        Buffer buffer = ints(1, 2);
        CommandBuffer commands = commands(CommandBuffer.ONE_SHOT, 0);
        for (int workgroups : new int[] {0, 2}) {
            assertFails(
                    StatusCode.FAILED_PRECONDITION,
                    "closed",
                    () -> commands.dispatch(
                            kernels,
                            JavaKernels.SCALE,
                            DispatchConfig.of(workgroups, 1, 1),
                            new int[] {2, 1},
                            List.of(BufferRef.of(buffer), BufferRef.of(buffer)),
                            0));
        }
        commands.finish();
        run(commands);
        assertThat(read(buffer)).containsExactly(1, 2);
    }

    @Test
    void submissionChecksEverySlotInUse() {
        Executable kernels = closed(kernels(device));
        CommandBuffer commands = commands(0, 4);
        commands.fillBuffer(BufferRef.slot(1, 8, 8), 0, 4, 0);
        commands.dispatch(kernels, JavaKernels.COORDINATES, DispatchConfig.of(1, 1, 1), NONE, List.of(slot(2)), 0);
        commands.finish();
        Buffer large = ints(1, 2, 3, 4);
        Buffer small = ints(1, 2, 3);
        assertFails(
                execute(commands, null),
                StatusCode.INVALID_ARGUMENT,
                "command buffer uses slot 1, but its binding table has 0 entries");
        assertFails(
                execute(commands, new BindingTable().add(null, 0, -1).add(null, 0, -1)),
                StatusCode.INVALID_ARGUMENT,
                "uses slot 1, but that slot of its binding table holds no buffer");
        assertFails(
                execute(commands, BindingTable.of(small, small, small)),
                StatusCode.OUT_OF_RANGE,
                "commands use slot 1 up to byte 16, which does not fit its range of 12 bytes");
        assertFails(
                execute(
                        commands,
                        new BindingTable().add(null, 0, -1).add(large, 4, 16).add(large, 0, -1)),
                StatusCode.OUT_OF_RANGE,
                "slot 1 of the binding table [4, 20) does not fit buffer of 16 bytes");
        BufferParams readOnly =
                new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT, MemoryAccess.READ, -1, 0);
        Buffer constant = closed(device.allocator().allocate(readOnly, 16));
        assertFails(
                execute(
                        commands,
                        new BindingTable().add(null, 0, -1).add(constant, 0, -1).add(large, 0, -1)),
                StatusCode.PERMISSION_DENIED,
                "slot 1 of the binding table needs a buffer with access WRITE, this one has READ");
        Buffer transferOnly = closed(
                device.allocator().allocate(new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.TRANSFER), 16));
        assertFails(
                execute(
                        commands,
                        new BindingTable().add(null, 0, -1).add(large, 0, -1).add(transferOnly, 0, -1)),
                StatusCode.PERMISSION_DENIED,
                "slot 2 of the binding table needs a buffer with a usage such as DISPATCH_STORAGE_READ");
        execute(commands, new BindingTable().add(null, 0, -1).add(large, 0, -1).add(small, 0, -1))
                .await();
    }

    @Test
    void unusedSlotsMayHoldAnything() {
        CommandBuffer commands = commands(0, 3);
        commands.fillBuffer(slot(2), 5, 4, 0);
        commands.finish();
        Buffer closedBuffer = ints(1);
        closedBuffer.close();
        Buffer notThere = closed(queue.alloca(fence(), fence(), PARAMS, 8, 0));
        Buffer out = ints(0);
        run(commands, closedBuffer, notThere, out);
        assertThat(read(out)).containsExactly(5);
        Fence go = fence();
        Fence later = fence();
        queue.execute(go, later, commands, BindingTable.of(closedBuffer, notThere, out), 0);
        go.signal();
        later.await();
        Fence done = execute(commands, BindingTable.of(out, out, notThere));
        assertFails(done, StatusCode.FAILED_PRECONDITION, "is not allocated yet");
    }

    @Test
    void retainsItsReferences() {
        Executable kernels = kernels(device);
        Buffer in = ints(4);
        Buffer out = ints(0);
        CommandBuffer commands = device.createCommandBuffer(0, BOTH, -1, 0);
        commands.dispatch(
                kernels,
                JavaKernels.SCALE,
                DispatchConfig.of(1, 1, 1),
                new int[] {10, 0},
                List.of(BufferRef.of(in), BufferRef.of(out)),
                0);
        commands.finish();
        kernels.close();
        in.close();
        run(commands);
        assertThat(read(out)).containsExactly(40);
        commands.close();
        assertThat(kernels.isLive()).isFalse();
        assertThat(in.isLive()).isFalse();
        assertFails(execute(commands, null), StatusCode.FAILED_PRECONDITION, "closed");
    }

    @Test
    void aWaitingExecutionKeepsEverything() {
        Executable kernels = kernels(device);
        Buffer in = ints(4);
        Buffer out = ints(0);
        CommandBuffer commands = device.createCommandBuffer(0, BOTH, -1, 2);
        commands.dispatch(
                kernels,
                JavaKernels.SCALE,
                DispatchConfig.of(1, 1, 1),
                new int[] {10, 0},
                List.of(slot(0), slot(1)),
                0);
        commands.finish();
        Fence wait = fence();
        Fence done = fence();
        BindingTable table = BindingTable.of(in, out);
        queue.execute(wait, done, commands, table, 0);
        table.clear();
        kernels.close();
        in.close();
        commands.close();
        wait.signal();
        done.await();
        assertThat(read(out)).containsExactly(40);
        assertThat(commands.isLive()).isFalse();
        assertThat(in.isLive()).isFalse();
    }

    @Test
    void commandsUseMemoryAllocatedOnTheQueue() {
        Fence ready = fence();
        Buffer transientBuffer = closed(queue.alloca(null, ready, PARAMS, 8, 0));
        CommandBuffer commands = commands(0, 1);
        commands.fillBuffer(slot(0), 3, 4, 0);
        commands.finish();
        Fence done = fence();
        queue.execute(ready, done, commands, BindingTable.of(transientBuffer), 0);
        done.await();
        assertThat(read(transientBuffer)).containsExactly(3, 3);
        Fence freed = fence();
        queue.dealloca(null, freed, transientBuffer, 0);
        freed.await();
        assertFails(
                execute(commands, BindingTable.of(transientBuffer)),
                StatusCode.FAILED_PRECONDITION,
                "has been deallocated");
    }

    @Test
    void slotsMustNotOverlapInACopy() {
        CommandBuffer commands = commands(0, 2);
        commands.copyBuffer(BufferRef.slot(0, 0, 8), BufferRef.slot(1, 0, 8), 0);
        commands.finish();
        Buffer buffer = ints(1, 2, 3, 4);
        assertFails(
                execute(commands, new BindingTable().add(buffer, 0, 8).add(buffer, 4, 8)),
                StatusCode.INVALID_ARGUMENT,
                "overlap");
        execute(commands, new BindingTable().add(buffer, 0, 8).add(buffer, 8, 8))
                .await();
        assertThat(read(buffer)).containsExactly(1, 2, 1, 2);
    }

    /** Fills, updates and copies of any length, at any offset, of fixed buffers and of slots. */
    @Test
    void transfersAgreeWithALoopWhateverTheRange() {
        long seed = Effort.seed(20261125);
        Random random = new Random(seed);
        byte[] expected = new byte[1024];
        Buffer target = closed(device.allocator().allocate(PARAMS, expected.length));
        target.map(MemoryAccess.WRITE, 0, Buffer.WHOLE).fill((byte) 0);
        for (int round = 0; round < 100; round++) {
            CommandBuffer commands = commands(0, 2);
            byte[] source = new byte[512];
            random.nextBytes(source);
            Buffer from = closed(device.allocator().allocate(PARAMS, source.length));
            from.map(MemoryAccess.WRITE, 0, Buffer.WHOLE).copyFrom(MemorySegment.ofArray(source));
            for (int i = 0; i < 3; i++) {
                int unit = i == 0 ? 1 << random.nextInt(3) : 1;
                int length = random.nextInt(300 / unit) * unit;
                int offset = random.nextInt(700 / unit) * unit;
                int first = random.nextInt(200);
                int pattern = random.nextInt();
                boolean fixed = random.nextBoolean();
                BufferRef to = fixed ? BufferRef.of(target, offset, length) : BufferRef.slot(0, offset, length);
                switch (i) {
                    case 0 -> commands.fillBuffer(to, pattern, unit, 0);
                    case 1 ->
                        commands.updateBuffer(MemorySegment.ofArray(source).asSlice(first, length), to, 0);
                    default ->
                        commands.copyBuffer(
                                fixed ? BufferRef.of(from, first, length) : BufferRef.slot(1, first, length), to, 0);
                }
                barrier(commands);
                for (int k = 0; k < length; k++) {
                    expected[offset + k] = i == 0 ? (byte) (pattern >>> k % unit * 8) : source[first + k];
                }
            }
            commands.finish();
            run(commands, target, from);
            assertThat(target.map(MemoryAccess.READ, 0, Buffer.WHOLE).toArray(ValueLayout.JAVA_BYTE))
                    .as("seed %d, round %d", seed, round)
                    .isEqualTo(expected);
        }
    }

    /** Each dispatch reads its counts after the writes of the earlier dispatches. */
    @Test
    void countsMayBeUpdatedFilledOrComputedByTheCommandsBefore() {
        Executable kernels = closed(kernels(device));
        CommandBuffer commands = commands(0, 4);
        Buffer counts = closed(ints(new int[128]).subspan(256, 256));
        BufferRef three = BufferRef.of(counts, 4, 12);
        commands.updateBuffer(MemorySegment.ofArray(new int[] {3, 1, 1}), three, 0);
        barrier(commands);
        commands.dispatchIndirect(kernels, JavaKernels.COORDINATES, three, NONE, List.of(slot(1)), 0);
        barrier(commands);
        commands.fillBuffer(three, 2, 4, 0);
        barrier(commands);
        commands.dispatchIndirect(kernels, JavaKernels.COORDINATES, three, NONE, List.of(slot(2)), 0);
        barrier(commands);
        BufferRef computed = BufferRef.of(counts, 0, 12);
        DispatchConfig all = DispatchConfig.of(3, 1, 1);
        commands.dispatch(kernels, JavaKernels.SCALE, all, new int[] {2, 1}, List.of(slot(0), computed), 0);
        barrier(commands);
        commands.dispatchIndirect(kernels, JavaKernels.COORDINATES, computed, NONE, List.of(slot(3)), 0);
        commands.finish();
        for (int i = 0; i < 2; i++) {
            Buffer first = ints(-1, -1, -1, -1);
            Buffer second = ints(-1, -1, -1, -1, -1, -1, -1, -1, -1);
            Buffer third = ints(-1, -1, -1, -1);
            run(commands, ints(1, 0, 0), first, second, third);
            assertThat(read(first)).containsExactly(0, 1, 2, -1);
            assertThat(read(second)).containsExactly(0, 1, 256, 257, 65536, 65537, 65792, 65793, -1);
            assertThat(read(third)).containsExactly(0, 1, 2, -1);
        }
    }

    @Test
    void countsFinalAtTheIssueOfTheExecutionMayBeWrittenBehindTheRecording() {
        Executable kernels = closed(kernels(device));
        CommandBuffer commands = commands(0, 1);
        Buffer counts = ints(0, 0, 0);
        commands.dispatchIndirect(
                kernels,
                JavaKernels.COORDINATES,
                BufferRef.of(counts),
                NONE,
                List.of(slot(0)),
                DeviceQueue.DISPATCH_STATIC_INDIRECT_PARAMETERS);
        commands.finish();
        Buffer out = ints(-1, -1, -1);
        Fence written = fence();
        Fence done = fence();
        queue.execute(written, done, commands, BindingTable.of(out), 0);
        queue.update(null, written, MemorySegment.ofArray(new int[] {2, 1, 1}), counts, 0, 0);
        done.await();
        assertThat(read(out)).containsExactly(0, 1, -1);
    }

    /**
     * Two entry points of the same executable, fixed buffers and slots in a dispatch, more workgroups than a worker
     * takes at once.
     */
    @Test
    void aPipelineOfDispatchesIsReusedWithOtherInputs() {
        Executable kernels = closed(kernels(device));
        int count = 3000;
        DispatchConfig grid = DispatchConfig.of(count, 1, 1);
        Buffer tens = ints(new int[count]);
        CommandBuffer commands = commands(0, 3);
        commands.fillBuffer(BufferRef.of(tens), 10, 4, 0);
        barrier(commands);
        commands.dispatch(kernels, JavaKernels.ADD, grid, NONE, List.of(slot(0), BufferRef.of(tens), slot(1)), 0);
        barrier(commands);
        commands.dispatch(kernels, JavaKernels.SCALE, grid, new int[] {3, 1}, List.of(slot(1), slot(2)), 0);
        commands.finish();
        for (int round = 0; round < 5; round++) {
            int first = round;
            Buffer between = ints(new int[count]);
            Buffer out = ints(new int[count]);
            run(commands, ints(IntStream.range(first, first + count).toArray()), between, out);
            assertThat(read(between))
                    .isEqualTo(IntStream.range(first + 10, first + 10 + count).toArray());
            assertThat(read(out))
                    .isEqualTo(IntStream.range(0, count)
                            .map(i -> (first + i + 10) * 3 + 1)
                            .toArray());
        }
    }

    @Test
    void manyCommandsAreASingleRecordingAndManyRecordingsRunOneAfterTheOther() {
        int count = 512;
        Buffer filled = ints(new int[count]);
        Buffer copied = ints(new int[count]);
        CommandBuffer many = commands(0, 0);
        for (int i = 0; i < count; i++) {
            many.fillBuffer(BufferRef.of(filled, 4L * i, 4), i + 1, 4, 0);
        }
        many.finish();
        run(many);
        assertThat(read(filled)).isEqualTo(IntStream.rangeClosed(1, count).toArray());
        for (int i = 0; i < 200; i++) {
            try (CommandBuffer one = device.createCommandBuffer(CommandBuffer.ONE_SHOT, BOTH, -1, 0)) {
                one.fillBuffer(BufferRef.of(filled), i, 4, 0);
                barrier(one);
                one.copyBuffer(BufferRef.of(filled), BufferRef.of(copied), 0);
                one.finish();
                run(one);
            }
            assertThat(read(copied)).containsOnly(i);
        }
    }

    @Test
    void recordingsOfManyBuffersKeepEachBuffer() {
        Buffer[] buffers = new Buffer[40];
        for (int i = 0; i < buffers.length; i++) {
            buffers[i] = ints(0, 0);
        }
        CommandBuffer ascending = commands(0, 0);
        for (int i = 0; i < buffers.length; i++) {
            ascending.fillBuffer(BufferRef.of(buffers[i], 0, 4), i + 1, 4, 0);
        }
        ascending.finish();
        CommandBuffer descending = commands(0, 0);
        for (int i = buffers.length - 1; i >= 0; i--) {
            descending.fillBuffer(BufferRef.of(buffers[i], 4, 4), 100 + i, 4, 0);
        }
        descending.finish();
        run(ascending);
        run(descending);
        for (int i = 0; i < buffers.length; i++) {
            assertThat(read(buffers[i])).containsExactly(i + 1, 100 + i);
        }
    }

    @Test
    void memoryMayBeRecordedAndBoundBeforeItIsAllocated() {
        Fence start = fence();
        Fence ready = fence();
        Buffer later = closed(queue.alloca(start, ready, PARAMS, 16, 0));
        Buffer source = ints(1, 2, 3, 4);
        Buffer target = ints(0, 0, 0, 0);
        CommandBuffer commands = commands(CommandBuffer.ONE_SHOT, 1);
        commands.copyBuffer(BufferRef.of(source), BufferRef.of(later), 0);
        barrier(commands);
        commands.fillBuffer(BufferRef.slot(0, 3, 2), 0x7F, 1, 0);
        commands.updateBuffer(MemorySegment.ofArray(new int[] {9}), BufferRef.of(later, 8, 4), 0);
        barrier(commands);
        commands.copyBuffer(slot(0), BufferRef.of(target), 0);
        commands.finish();
        Fence done = fence();
        queue.execute(ready, done, commands, BindingTable.of(later), 0);
        assertThat(done.isReached()).isFalse();
        start.signal();
        done.await();
        assertThat(read(target)).containsExactly(0x7F000001, 0x0000007F, 9, 4);
    }

    @Test
    void aRecordingIsReusedOnSeparateMemoryEachTime() {
        Executable kernels = closed(kernels(device));
        CommandBuffer commands = commands(0, 2);
        DispatchConfig grid = DispatchConfig.of(128, 1, 1);
        commands.dispatch(kernels, JavaKernels.COORDINATES, grid, NONE, List.of(slot(0)), 0);
        barrier(commands);
        commands.dispatch(kernels, JavaKernels.SCALE, grid, new int[] {2, 1}, List.of(slot(0), slot(1)), 0);
        commands.finish();
        Buffer out = ints(new int[5 * 128]);
        long live = device.allocator().statistics().bytesLive();
        TimelineSemaphore timeline = semaphore();
        for (int i = 0; i < 5; i++) {
            Buffer scratch =
                    closed(queue.alloca(i == 0 ? null : at(timeline, 3 * i), at(timeline, 3 * i + 1), PARAMS, 512, 0));
            BindingTable table = BindingTable.of(scratch).add(out, 512L * i, 512);
            queue.execute(at(timeline, 3 * i + 1), at(timeline, 3 * i + 2), commands, table, 0);
            queue.dealloca(at(timeline, 3 * i + 2), at(timeline, 3 * i + 3), scratch, 0);
        }
        at(timeline, 15).await();
        assertThat(read(out))
                .isEqualTo(IntStream.range(0, 5 * 128).map(i -> i % 128 * 2 + 1).toArray());
        assertThat(device.allocator().statistics().bytesLive()).isEqualTo(live);
    }
}
