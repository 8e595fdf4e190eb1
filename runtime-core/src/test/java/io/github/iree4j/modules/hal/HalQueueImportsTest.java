package io.github.iree4j.modules.hal;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.modules.ModuleCalls;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmBuffer;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Queue operations, executables and command buffers as seen by programs, both generations of dispatch. */
class HalQueueImportsTest {
    private static final String BY_ID = "0rrIiiiICiDCiirIID_v";
    private static final String BY_ORDINAL = "0rriiiiICiDCiirIID_v";
    private static final String INDIRECT_BY_ID = "0rrIirIICiDCiirIID_v";
    private static final String INDIRECT_BY_ORDINAL = "0rriirIICiDCiirIID_v";
    private static final int USAGE =
            BufferUsage.DEFAULT | BufferUsage.MAPPING | BufferUsage.DISPATCH_INDIRECT_PARAMETERS;
    private static final int MEMORY = MemoryType.DEVICE_LOCAL | MemoryType.HOST_VISIBLE;

    private final HalFixture hal = new HalFixture();

    @AfterEach
    void nothingIsLeft() {
        hal.close();
    }

    @Test
    void allocationsOnAQueueAreUsableOnceSignalled() {
        Fence allocated = hal.fence();
        Buffer buffer = hal.one(
                "device.queue.alloca", "0rIrrIiiII_r", hal.device, -1L, null, allocated, 0L, MEMORY, USAGE, 8L, 0L);
        HalFixture.assertReached(allocated);
        Fence filled = hal.fence();
        hal.call(
                "device.queue.fill",
                "0rIrrrIIIiI_v",
                hal.device,
                -1L,
                allocated,
                filled,
                buffer,
                0L,
                8L,
                0x1234_5678L,
                4,
                0L);
        HalFixture.assertReached(filled);
        assertThat(HalFixture.ints(buffer)).containsExactly(0x12345678, 0x12345678);
        Fence freed = hal.fence();
        hal.call("device.queue.dealloca", "0rIrrrI_v", hal.device, -1L, filled, freed, buffer, 1L);
        HalFixture.assertReached(freed);
        hal.failure(StatusCode.FAILED_PRECONDITION, "buffer.load", "0rIi_i", buffer, 0L, 4);
    }

    @Test
    void poolsAndUnknownFlagsAreRefused() {
        assertThat(hal.failure(
                        StatusCode.UNIMPLEMENTED,
                        "device.queue.alloca",
                        "0rIrrIiiII_r",
                        hal.device,
                        -1L,
                        null,
                        null,
                        3L,
                        MEMORY,
                        USAGE,
                        8L,
                        0L))
                .hasMessageContaining("pool 3");
        assertThat(hal.failure(
                        StatusCode.INVALID_ARGUMENT,
                        "device.queue.barrier",
                        "0rIrrI_v",
                        hal.device,
                        -1L,
                        null,
                        null,
                        8L))
                .hasMessageContaining("unknown bits 0x8");
        hal.failure(
                StatusCode.INVALID_ARGUMENT, "device.queue.barrier", "0rIrrI_v", hal.device, 1L << 40, null, null, 0L);
        hal.call("device.queue.flush", "0rI_v", hal.device, -1L);
    }

    @Test
    void updatesCopiesReadsAndWritesMoveBytes() {
        Buffer first = hal.buffer(0, 0);
        Buffer second = hal.buffer(0, 0);
        Fence updated = hal.fence();
        hal.call(
                "device.queue.update",
                "0rIrrrIrIII_v",
                hal.device,
                -1L,
                null,
                updated,
                HalFixture.bytes(9, 1, 0, 0, 0),
                1L,
                first,
                4L,
                4L,
                0L);
        Fence copied = hal.fence();
        hal.call("device.queue.copy", "0rIrrrIrIII_v", hal.device, -1L, updated, copied, first, 4L, second, 0L, 4L, 0L);
        HalFile file = hal.one(
                "ex.file.from_memory", "0rIirIIi_r", hal.device, -1L, 1, HalFixture.bytes(2, 0, 0, 0), 0L, 4L, 0);
        Fence read = hal.fence();
        hal.call("device.queue.read", "0rIrrrIrIII_v", hal.device, -1L, copied, read, file, 0L, second, 4L, 4L, 0L);
        HalFixture.assertReached(read);
        assertThat(HalFixture.ints(first)).containsExactly(0, 1);
        assertThat(HalFixture.ints(second)).containsExactly(1, 2);
        Fence written = hal.fence();
        hal.call("device.queue.write", "0rIrrrIrIII_v", hal.device, -1L, read, written, second, 0L, file, 0L, 4L, 0L);
        assertThat(written.query()).as("writing to a file for reading").isEqualTo(StatusCode.PERMISSION_DENIED);
    }

    @Test
    void rangesOfProgramMemoryAreChecked() {
        Buffer target = hal.buffer(0, 0);
        assertThat(hal.failure(
                        StatusCode.OUT_OF_RANGE,
                        "device.queue.update",
                        "0rIrrrIrIII_v",
                        hal.device,
                        -1L,
                        null,
                        null,
                        HalFixture.bytes(1, 2),
                        1L,
                        target,
                        0L,
                        4L,
                        0L))
                .hasMessageContaining("offset 1, length 4 do not fit in a vm.buffer of 2 bytes");
    }

    @Test
    void aFailedOperationFailsItsFence() {
        Buffer target = hal.buffer(0, 0);
        Fence filled = hal.fence();
        hal.call("device.queue.fill", "0rIrrrIIIiI_v", hal.device, -1L, null, filled, target, 4L, 8L, 0L, 4, 0L);
        assertThat(filled.query()).isEqualTo(StatusCode.OUT_OF_RANGE);
        Fence after = hal.fence();
        hal.call("device.queue.barrier", "0rIrrI_v", hal.device, -1L, filled, after, 0L);
        assertThat(after.query()).as("what waits for it").isEqualTo(StatusCode.OUT_OF_RANGE);
    }

    @Test
    void recordedDispatchesOfBothGenerationsRunWithTheBindingTable() {
        for (String convention : new String[] {BY_ID, BY_ORDINAL}) {
            Object add = convention.equals(BY_ID) ? (Object) lookup("add") : (Object) 0;
            CommandBuffer commands = commands(2);
            hal.call(
                    "command_buffer.dispatch",
                    convention,
                    commands,
                    executable(null),
                    add,
                    3,
                    1,
                    1,
                    0L,
                    List.of(List.of(100)),
                    List.of(List.of(0, 0, none(), 0L, 12L), List.of(0, 1, none(), 0L, 12L)));
            hal.call("command_buffer.execution_barrier", "0riiI_v", commands, 0x1C, 0x0D, 0L);
            hal.call("command_buffer.finalize", "0r_v", commands);
            Buffer in = hal.buffer(1, 2, 3, 4);
            Buffer out = hal.buffer(0, 0, 0, 0);
            for (int round = 0; round < 3; round++) {
                Fence done = hal.fence();
                hal.call(
                        "device.queue.execute.indirect",
                        "0rIrrrICrIID_v",
                        hal.device,
                        -1L,
                        null,
                        done,
                        commands,
                        0L,
                        List.of(List.of(in, 4L, 12L), List.of(out, 0L, -1L)));
                HalFixture.assertReached(done);
                assertThat(HalFixture.ints(out)).containsExactly(102, 103, 104, 0);
            }
        }
    }

    @Test
    void indirectDispatchesOfBothGenerationsReadTheirCounts() {
        for (String convention : new String[] {INDIRECT_BY_ID, INDIRECT_BY_ORDINAL}) {
            Object add = convention.equals(INDIRECT_BY_ID) ? (Object) lookup("add") : (Object) 0;
            Buffer in = hal.buffer(1, 2, 3);
            Buffer out = hal.buffer(0, 0, 0);
            Buffer counts = hal.one("allocator.allocate", "0rIiiI_r", hal.device.allocator(), -1L, MEMORY, USAGE, 16L);
            for (int i = 0; i < 3; i++) {
                hal.call("buffer.store", "0irIi_v", i == 0 ? 2 : 1, counts, 4L + 4L * i, 4);
            }
            CommandBuffer commands = commands(0);
            hal.call(
                    "command_buffer.dispatch.indirect",
                    convention,
                    commands,
                    executable(null),
                    add,
                    0,
                    counts,
                    4L,
                    0L,
                    List.of(List.of(10)),
                    List.of(List.of(0, 0, in, 0L, -1L), List.of(0, 0, out, 0L, -1L)));
            hal.call("command_buffer.finalize", "0r_v", commands);
            Fence done = hal.fence();
            hal.call("device.queue.execute", "0rIrrrI_v", hal.device, -1L, null, done, commands, 0L);
            HalFixture.assertReached(done);
            assertThat(HalFixture.ints(out)).containsExactly(11, 12, 0);
        }
    }

    @Test
    void recordedTransfersRunInOrder() {
        Buffer first = hal.buffer(0, 0, 0);
        Buffer second = hal.buffer(0, 0, 0);
        CommandBuffer commands = commands(1);
        hal.call("command_buffer.begin_debug_group", "0rr_v", commands, HalFixture.text("moves"));
        hal.call("command_buffer.fill_buffer", "0rrIIiIiI_v", commands, first, 0L, 8L, 0, 0x0707L, 2, 0L);
        hal.call(
                "command_buffer.update_buffer",
                "0rrIrIIiI_v",
                commands,
                HalFixture.bytes(0, 5, 0, 0, 0),
                1L,
                first,
                8L,
                4L,
                0,
                0L);
        hal.call("command_buffer.advise_buffer", "0rrIIIi_v", commands, first, 0L, 0L, 0L, 0);
        hal.call("command_buffer.execution_barrier", "0riiI_v", commands, 0x1C, 0x0D, 0L);
        hal.call("command_buffer.copy_buffer", "0riirIrIII_v", commands, 0, 0, first, 4L, null, 0L, 8L, 0L);
        hal.call("command_buffer.end_debug_group", "0r_v", commands);
        hal.call("command_buffer.finalize", "0r_v", commands);
        Fence done = hal.fence();
        hal.call(
                "device.queue.execute.indirect",
                "0rIrrrICrIID_v",
                hal.device,
                -1L,
                null,
                done,
                commands,
                0L,
                List.of(List.of(second, 0L, -1L)));
        HalFixture.assertReached(done);
        assertThat(HalFixture.ints(first)).containsExactly(0x07070707, 0x07070707, 5);
        assertThat(HalFixture.ints(second)).containsExactly(0x07070707, 5, 0);
    }

    @Test
    void failingKernelsFailTheFenceWithTheirMessage() {
        Buffer buffer = hal.buffer(1);
        CommandBuffer commands = commands(0);
        hal.call(
                "command_buffer.dispatch",
                BY_ID,
                commands,
                executable(null),
                lookup("fail"),
                1,
                1,
                1,
                0L,
                List.of(List.of(0)),
                List.of(List.of(0, 0, buffer, 0L, -1L), List.of(0, 0, buffer, 0L, -1L)));
        hal.call("command_buffer.finalize", "0r_v", commands);
        Fence done = hal.fence();
        hal.call("device.queue.execute", "0rIrrrI_v", hal.device, -1L, null, done, commands, 0L);
        assertThat(hal.failure(StatusCode.DATA_LOSS, "fence.await", "0iICrD_i", -1, 0L, List.of(List.of(done))))
                .hasMessageContaining("kernel 'fail' was run");
    }

    @Test
    void missingFunctionsOfAnExecutableAreRefused() {
        Executable executable = executable(null);
        assertThat(hal.failure(
                        StatusCode.NOT_FOUND,
                        "executable.lookup.function",
                        "0rr_I",
                        executable,
                        HalFixture.text("mul")))
                .hasMessageContaining("mul")
                .hasMessageContaining("add");
        CommandBuffer commands = commands(0);
        for (Object id : new Object[] {2L, -1L, 1L << 32}) {
            hal.failure(
                    StatusCode.OUT_OF_RANGE,
                    "command_buffer.dispatch",
                    BY_ID,
                    commands,
                    executable,
                    id,
                    1,
                    1,
                    1,
                    0L,
                    List.of(),
                    List.of());
        }
        for (Object ordinal : new Object[] {2, -1}) {
            hal.failure(
                    StatusCode.OUT_OF_RANGE,
                    "command_buffer.dispatch",
                    BY_ORDINAL,
                    commands,
                    executable,
                    ordinal,
                    1,
                    1,
                    1,
                    0L,
                    List.of(),
                    List.of());
        }
    }

    @Test
    void listsLongerThanTheirLimitAreRefused() {
        CommandBuffer commands = commands(0);
        Executable executable = executable(null);
        Buffer buffer = hal.buffer(1);
        hal.failure(
                StatusCode.RESOURCE_EXHAUSTED,
                "command_buffer.dispatch",
                BY_ORDINAL,
                commands,
                executable,
                0,
                1,
                1,
                1,
                0L,
                List.of(List.of(0)),
                Collections.nCopies(33, List.of(0, 0, buffer, 0L, -1L)));
        hal.failure(
                StatusCode.RESOURCE_EXHAUSTED,
                "command_buffer.dispatch",
                BY_ORDINAL,
                commands,
                executable,
                0,
                1,
                1,
                1,
                0L,
                Collections.nCopies(65, List.of(0)),
                List.of());
    }

    @Test
    void commandBuffersRefuseUndefinedModesAndInvalidOrders() {
        hal.failure(StatusCode.INVALID_ARGUMENT, "command_buffer.create", "0riiIi_r", hal.device, 2, 3, -1L, 0);
        hal.failure(StatusCode.INVALID_ARGUMENT, "command_buffer.create", "0riiIi_r", hal.device, 0, 4, -1L, 0);
        hal.failure(StatusCode.INVALID_ARGUMENT, "command_buffer.create", "0riiIi_r", hal.device, 0, 3, -1L, -1);
        CommandBuffer commands = commands(0);
        Fence fence = hal.fence();
        hal.call("device.queue.execute", "0rIrrrI_v", hal.device, -1L, null, fence, commands, 0L);
        assertThat(fence.query()).as("still recording").isEqualTo(StatusCode.FAILED_PRECONDITION);
        hal.call("command_buffer.finalize", "0r_v", commands);
        hal.failure(StatusCode.FAILED_PRECONDITION, "command_buffer.finalize", "0r_v", commands);
    }

    @Test
    void slotsWithoutABufferFailTheSubmission() {
        CommandBuffer commands = commands(2);
        hal.call(
                "command_buffer.dispatch",
                BY_ORDINAL,
                commands,
                executable(null),
                0,
                1,
                1,
                1,
                0L,
                List.of(List.of(0)),
                List.of(List.of(0, 0, none(), 0L, 4L), List.of(0, 1, none(), 0L, 4L)));
        hal.call("command_buffer.finalize", "0r_v", commands);
        for (List<?> table : List.of(
                List.of(),
                List.of(List.of(hal.buffer(1), 0L, -1L)),
                List.of(List.of(none(), 0L, 0L), List.of(none(), 0L, 0L)))) {
            Fence done = hal.fence();
            hal.call(
                    "device.queue.execute.indirect",
                    "0rIrrrICrIID_v",
                    hal.device,
                    -1L,
                    null,
                    done,
                    commands,
                    0L,
                    table);
            assertThat(done.query()).isEqualTo(StatusCode.INVALID_ARGUMENT);
        }
    }

    @Test
    void executablesNeedWholeConstantsAndAKnownFormat() {
        assertThat(hal.failure(
                        StatusCode.INVALID_ARGUMENT,
                        "executable.create",
                        "0rIrrr_r",
                        hal.device,
                        -1L,
                        HalFixture.text(AddKernel.FORMAT),
                        HalFixture.bytes(0),
                        HalFixture.bytes(1, 2, 3)))
                .hasMessageContaining("3 bytes");
        assertThat(hal.failure(
                        StatusCode.INCOMPATIBLE,
                        "executable.create",
                        "0rIrrr_r",
                        hal.device,
                        -1L,
                        HalFixture.text("cuda-nvptx-fb"),
                        HalFixture.bytes(0),
                        null))
                .hasMessageContaining("cuda-nvptx-fb")
                .hasMessageContaining(AddKernel.FORMAT);
    }

    @Test
    void contextsShareExecutablesOfTheSameConstants() {
        try (Arena arena = Arena.ofConfined()) {
            Owner owner = new Owner();
            VmBuffer data = VmBuffer.constant(arena.allocate(16), owner);
            Executable mine = executable(data);
            try (ModuleCalls other = new ModuleCalls(hal.module)) {
                Executable theirs = create(other, data, null);
                assertThat(theirs).isSameAs(mine);
                Executable specialised = create(other, data, HalFixture.bytes(1, 0, 0, 0));
                assertThat(specialised).isNotSameAs(mine);
                assertThat(hal.kernel.loaded).hasValue(2);
                theirs.release();
                specialised.release();
                assertThat(hal.kernel.closed)
                        .as("closed while a context may ask again")
                        .hasValue(0);
            }
            assertThat(hal.kernel.closed)
                    .as("closed with the only context in use")
                    .hasValue(1);
            hal.releaseLast();
            assertThat(mine.isLive()).isTrue();
        }
    }

    private Executable create(ModuleCalls context, VmBuffer data, VmBuffer constants) {
        return context.one(
                "executable.create", "0rIrrr_r", hal.device, -1L, HalFixture.text(AddKernel.FORMAT), data, constants);
    }

    @Test
    void contextsCreatedAtOnceLoadAnExecutableOnce() throws InterruptedException {
        try (Arena arena = Arena.ofShared()) {
            VmBuffer data = VmBuffer.constant(arena.allocate(16), new Owner());
            List<Thread> threads = new ArrayList<>();
            CountDownLatch created = new CountDownLatch(4);
            for (int i = 0; i < 4; i++) {
                threads.add(Thread.ofPlatform().start(() -> {
                    try (ModuleCalls other = new ModuleCalls(hal.module)) {
                        create(other, data, null).release();
                        created.countDown();
                        created.await();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(created.getCount()).isZero();
            assertThat(hal.kernel.loaded).hasValue(1);
            assertThat(hal.kernel.closed).hasValue(1);
        }
    }

    private static final class Owner extends Resource {
        @Override
        protected void destroy() {}
    }

    @Test
    void mutableDataIsNotShared() {
        VmBuffer data = HalFixture.bytes(1, 2, 3);
        assertThat(executable(data)).isNotSameAs(executable(data));
        assertThat(hal.kernel.loaded).hasValue(2);
    }

    private Executable executable(VmBuffer data) {
        return hal.one(
                "executable.create",
                "0rIrrr_r",
                hal.device,
                -1L,
                HalFixture.text(AddKernel.FORMAT),
                data == null ? HalFixture.bytes(0) : data,
                null);
    }

    private long lookup(String name) {
        return hal.<Long>one("executable.lookup.function", "0rr_I", executable(null), HalFixture.text(name));
    }

    private CommandBuffer commands(int bindingCapacity) {
        return hal.one("command_buffer.create", "0riiIi_r", hal.device, 0, 3, -1L, bindingCapacity);
    }

    /** A null reference inside a tuple, forbidden by {@code List.of}. */
    private static Object none() {
        return ModuleCalls.NULL;
    }
}
