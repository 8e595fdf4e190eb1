package io.github.iree4j.modules.hal;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmBuffer;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Imports of earlier compilers, function by function: each behaves as the current form. */
class HalGenerationsTest {
    private static final int ANY_STAGE = 0x1C;
    private static final int USAGE =
            BufferUsage.DEFAULT | BufferUsage.MAPPING | BufferUsage.DISPATCH_INDIRECT_PARAMETERS;
    private static final int MEMORY = MemoryType.DEVICE_LOCAL | MemoryType.HOST_VISIBLE;

    private final HalFixture hal = new HalFixture();

    @AfterEach
    void nothingIsLeft() {
        hal.close();
    }

    // Until December and August 2023.

    @Test
    void theDeviceOf2023IsTheFirst() {
        assertThat(hal.<Object>one("ex.shared_device", "0v_r")).isSameAs(hal.device);
    }

    @Test
    void allocationsOf2023HaveNoAffinity() {
        Buffer buffer = hal.one("allocator.allocate", "0riiI_r", hal.device.allocator(), MEMORY, USAGE, 8L);
        assertThat(buffer.length()).isEqualTo(8);
        Buffer initialized = hal.one(
                "allocator.allocate.initialized",
                "0riirII_r",
                hal.device.allocator(),
                MEMORY,
                BufferUsage.DEFAULT,
                HalFixture.bytes(9, 1, 0, 0, 0, 2, 0, 0, 0),
                1L,
                -1L);
        assertThat(HalFixture.ints(initialized)).containsExactly(1, 2);
        hal.failure(
                StatusCode.OUT_OF_RANGE,
                "allocator.allocate.initialized",
                "0riirII_r",
                hal.device.allocator(),
                MEMORY,
                BufferUsage.DEFAULT,
                HalFixture.bytes(1, 2),
                1L,
                2L);
    }

    @Test
    void constantsOf2023AreMappedOrTried() {
        VmBuffer constant = HalFixture.bytes(1, 2, 3, 4);
        hal.failure(
                StatusCode.PERMISSION_DENIED,
                "allocator.map.byte_buffer",
                "0riiirII_r",
                hal.device.allocator(),
                0,
                MEMORY,
                BufferUsage.DEFAULT,
                constant,
                0L,
                -1L);
        // Heap memory cannot be a buffer in place: a merely trying program gets null.
        Object mapped = hal.one(
                "allocator.map.byte_buffer",
                "0riiirII_r",
                hal.device.allocator(),
                1,
                MEMORY,
                BufferUsage.DEFAULT | BufferUsage.SHARING_IMMUTABLE,
                constant,
                0L,
                -1L);
        assertThat(mapped).isNull();
    }

    // Until July 2024.

    @Test
    void commandsUntilJuly2024NameTheirBuffers() {
        Buffer first = hal.buffer(0, 0, 0, 0);
        Buffer second = hal.buffer(0, 0, 0, 0);
        CommandBuffer commands = hal.one("command_buffer.create", "0riii_r", hal.device, 1, 3, 0);
        hal.call("command_buffer.fill_buffer", "0rrIIii_v", commands, first, 4L, 8L, 0xFFFF_FFF7, 4);
        hal.call("command_buffer.execution_barrier", "0riii_v", commands, ANY_STAGE, ANY_STAGE, 0);
        hal.call("command_buffer.copy_buffer", "0rrIrII_v", commands, first, 4L, second, 8L, 8L);
        hal.call("command_buffer.finalize", "0r_v", commands);
        execute(List.of(commands));
        assertThat(HalFixture.ints(first)).containsExactly(0, -9, -9, 0);
        assertThat(HalFixture.ints(second)).containsExactly(0, 0, -9, -9);
    }

    @Test
    void nestedCommandBuffersAreRefusedNamingTheirReplacement() {
        assertThat(hal.failure(StatusCode.UNIMPLEMENTED, "command_buffer.create", "0riii_r", hal.device, 3, 3, 0))
                .hasMessageContaining("IREE of July 2024 and later");
        hal.failure(StatusCode.UNIMPLEMENTED, "command_buffer.execute.commands", "0rrCrIID_v", null, null, List.of());
    }

    @Test
    void collectivesUntilJuly2024NameTheirBuffers() {
        Channel channel = hal.one("channel.create", "0rIii_r", hal.device, -1L, 0, 1);
        assertThat(hal.call("channel.rank_and_count", "0r_ii", channel)).containsExactly(0, 1);
        Buffer source = hal.buffer(3, 4);
        Buffer target = hal.buffer(0, 0);
        CommandBuffer commands = hal.one("command_buffer.create", "0riii_r", hal.device, 1, 3, 0);
        hal.call(
                "command_buffer.collective",
                "0rriirIIrIII_v",
                commands,
                channel,
                Collective.of(Collective.ALL_REDUCE, Collective.SUM, Collective.S32)
                        .packed(),
                0,
                source,
                0L,
                8L,
                target,
                0L,
                8L,
                2L);
        hal.call("command_buffer.finalize", "0r_v", commands);
        execute(List.of(commands));
        assertThat(HalFixture.ints(target)).containsExactly(3, 4);
    }

    @Test
    void channelsUntilMarch2025Have32BitsOfFlags() {
        Channel first = hal.one("channel.create", "0rIirrii_r", hal.device, -1L, 0, null, HalFixture.text("g"), 0, 2);
        Channel second = hal.one("channel.create", "0rIirrii_r", hal.device, -1L, 0, null, HalFixture.text("g"), 1, 2);
        Channel of = hal.one("channel.split", "0riii_r", first, 5, 9, 0);
        Channel other = hal.one("channel.split", "0riii_r", second, 5, 8, 0);
        assertThat(hal.call("channel.rank_and_count", "0r_ii", of)).containsExactly(1, 2);
        assertThat(hal.call("channel.rank_and_count", "0r_ii", other)).containsExactly(0, 2);
        hal.failure(StatusCode.INVALID_ARGUMENT, "channel.create", "0rIirrii_r", hal.device, -1L, 8, null, null, 0, 1);
    }

    // Until August 2024.

    @ParameterizedTest
    @ValueSource(strings = {"0rriiii_v", "0rriiiiI_v"})
    void dispatchesByDescriptorSets(String dispatch) {
        Buffer in = hal.buffer(0, 1, 2, 3);
        Buffer out = hal.buffer(9, 9, 9, 9);
        Object layout = layout(1, 2);
        Executable executable = executable(layout, layout);
        CommandBuffer commands = hal.one("command_buffer.create", "0riii_r", hal.device, 1, 3, 0);
        hal.call("command_buffer.push_constants", "0rriCiD_v", commands, layout, 0, List.of(List.of(100)));
        push(commands, layout, 0, binding(1, 0, out), binding(0, 0, in));
        hal.call("command_buffer.dispatch", dispatch, withFlags(dispatch, commands, executable, 0, 4, 1, 1));
        // Pushed values stay until replaced.
        hal.call("command_buffer.execution_barrier", "0riii_v", commands, ANY_STAGE, ANY_STAGE, 0);
        Buffer next = hal.buffer(0, 0, 0, 0);
        push(commands, layout, 0, binding(0, 0, out), binding(1, 0, next));
        hal.call("command_buffer.dispatch", dispatch, withFlags(dispatch, commands, executable, 0, 3, 1, 1));
        hal.call("command_buffer.finalize", "0r_v", commands);
        execute(List.of(commands));
        assertThat(HalFixture.ints(out)).containsExactly(100, 101, 102, 103);
        assertThat(HalFixture.ints(next)).containsExactly(200, 201, 202, 0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0rrirI_v", "0rriirII_v"})
    void dispatchesIndirectlyByDescriptorSets(String dispatch) {
        Buffer counts = counts(7, 2, 1, 1);
        Buffer in = hal.buffer(5, 6, 7, 8);
        Buffer out = hal.buffer(0, 0, 0, 0);
        Object layout = layout(1, 2);
        Executable executable = executable(layout, layout);
        CommandBuffer commands = hal.one("command_buffer.create", "0riii_r", hal.device, 1, 3, 0);
        push(commands, layout, 0, binding(0, 0, in), binding(1, 0, out));
        if (dispatch.equals("0rrirI_v")) {
            hal.call("command_buffer.dispatch.indirect", dispatch, commands, executable, 0, counts, 4L);
        } else {
            hal.call("command_buffer.dispatch.indirect", dispatch, commands, executable, 0, 0, counts, 4L, 0L);
        }
        hal.call("command_buffer.finalize", "0r_v", commands);
        execute(List.of(commands));
        assertThat(HalFixture.ints(out)).containsExactly(5, 6, 0, 0);
    }

    @Test
    void bindingsOfSeveralSetsAreCountedThrough() {
        Object first = setLayout(3);
        Object second = setLayout(0);
        Object layout =
                hal.one("pipeline_layout.create", "0riCrD_r", hal.device, 1, List.of(List.of(first), List.of(second)));
        Buffer in = hal.buffer(1, 2);
        Buffer out = hal.buffer(0, 0);
        Executable executable = executable(layout, layout);
        CommandBuffer commands = hal.one("command_buffer.create", "0riii_r", hal.device, 1, 3, 0);
        push(commands, layout, 1, binding(0, 0, out));
        push(commands, layout, 0, binding(3, 0, in));
        hal.call("command_buffer.dispatch", "0rriiii_v", commands, executable, 0, 2, 1, 1);
        hal.call("command_buffer.finalize", "0r_v", commands);
        execute(List.of(commands));
        assertThat(HalFixture.ints(out)).containsExactly(1, 2);
    }

    @Test
    void descriptorsCanBeSlotsOfATable() {
        Object layout = layout(1, 2);
        Executable executable = executable(layout, layout);
        CommandBuffer commands = hal.one("command_buffer.create", "0riiIi_r", hal.device, 0, 3, -1L, 2);
        push(commands, layout, 0, binding(0, 1, null), binding(1, 0, null));
        hal.call("command_buffer.dispatch", "0rriiiiI_v", commands, executable, 0, 2, 1, 1, 0L);
        hal.call("command_buffer.finalize", "0r_v", commands);
        Buffer in = hal.buffer(3, 4);
        Buffer out = hal.buffer(0, 0);
        Fence done = fence();
        hal.call(
                "device.queue.execute.indirect",
                "0rIrrrCrIID_v",
                hal.device,
                -1L,
                null,
                done,
                commands,
                List.of(List.of(out, 0L, 8L), List.of(in, 0L, 8L)));
        HalFixture.assertReached(done);
        assertThat(HalFixture.ints(out)).containsExactly(3, 4);
    }

    @Test
    void pushedBuffersAreRetainedUntilTheCommandBufferIsFinished() {
        Object layout = layout(1, 2);
        Executable executable = executable(layout, layout);
        CommandBuffer commands = hal.one("command_buffer.create", "0riii_r", hal.device, 1, 3, 0);
        Buffer out = hal.buffer(0, 0);
        Buffer in = hal.buffer(3, 4);
        push(commands, layout, 0, binding(0, 0, in), binding(1, 0, out));
        hal.releaseLast(); // the program's own reference to the pushed object
        assertThat(in.isLive()).isTrue();
        hal.call("command_buffer.dispatch", "0rriiii_v", commands, executable, 0, 2, 1, 1);
        hal.call("command_buffer.finalize", "0r_v", commands);
        execute(List.of(commands));
        assertThat(HalFixture.ints(out)).containsExactly(3, 4);
    }

    @Test
    void commandBuffersDroppedByFailedCallsRetainNothing() {
        Object layout = layout(1, 2);
        Buffer buffer = hal.keep(hal.device.allocator().allocate(BufferParams.DEFAULT, 8));
        for (int call = 0; call < 2000; call++) { // more than may be recorded at once
            CommandBuffer commands = hal.one("command_buffer.create", "0riii_r", hal.device, 1, 3, 0);
            push(commands, layout, 0, binding(0, 0, buffer), binding(1, 0, buffer));
            hal.releaseLast(); // never finished
        }
        CommandBuffer next = hal.one("command_buffer.create", "0riii_r", hal.device, 1, 3, 0);
        Buffer dropped = hal.keep(hal.device.allocator().allocate(BufferParams.DEFAULT, 8));
        push(next, layout, 0, binding(0, 0, dropped), binding(1, 0, dropped));
        hal.releaseLast();
        assertThat(dropped.isLive()).as("by the recording thread").isTrue();
        hal.releaseLast();
        CommandBuffer last = hal.one("command_buffer.create", "0riii_r", hal.device, 1, 3, 0);
        push(last, layout, 0, binding(0, 0, buffer));
        assertThat(dropped.isLive()).isFalse();
    }

    @Test
    void invalidDescriptorsAreRefused() {
        Object layout = layout(1, 2);
        Executable executable = executable(layout, layout);
        CommandBuffer commands = hal.one("command_buffer.create", "0riii_r", hal.device, 1, 3, 0);
        assertThat(hal.failure(
                        StatusCode.FAILED_PRECONDITION,
                        "command_buffer.dispatch",
                        "0rriiii_v",
                        commands,
                        executable,
                        0,
                        1,
                        1,
                        1))
                .hasMessageContaining("nothing was pushed to binding 0 of descriptor set 0");
        hal.failure(StatusCode.OUT_OF_RANGE, "command_buffer.dispatch", "0rriiii_v", commands, executable, 2, 1, 1, 1);
        hal.failure(
                StatusCode.OUT_OF_RANGE,
                "command_buffer.push_constants",
                "0rriCiD_v",
                commands,
                layout,
                64,
                List.of(List.of(1)));
        hal.failure(
                StatusCode.OUT_OF_RANGE,
                "command_buffer.push_descriptor_set",
                "0rriCiirIID_v",
                commands,
                layout,
                1,
                List.of());
        hal.failure(
                StatusCode.OUT_OF_RANGE,
                "command_buffer.push_descriptor_set",
                "0rriCiirIID_v",
                commands,
                layout,
                0,
                List.of(binding(64, 0, null)));
        hal.failure(StatusCode.OUT_OF_RANGE, "pipeline_layout.create", "0riCrD_r", hal.device, 65, List.of());
        hal.failure(
                StatusCode.INVALID_ARGUMENT,
                "descriptor_set_layout.create",
                "0riCiiiD_r",
                hal.device,
                0,
                List.of(List.of(1, 7, 0), List.of(1, 7, 0)));
        assertThat(hal.failure(
                        StatusCode.FAILED_PRECONDITION,
                        "executable.create",
                        "0rrrrCrD_r",
                        hal.device,
                        HalFixture.text(AddKernel.FORMAT),
                        HalFixture.bytes(0),
                        null,
                        List.of(List.of(layout))))
                .hasMessageContaining("has 2 exports and the program gives 1 pipeline layouts");
        Executable without = executable();
        hal.failure(
                StatusCode.FAILED_PRECONDITION, "command_buffer.dispatch", "0rriiii_v", commands, without, 0, 1, 1, 1);
        hal.call("command_buffer.finalize", "0r_v", commands);
        hal.failure(
                StatusCode.FAILED_PRECONDITION,
                "command_buffer.push_constants",
                "0rriCiD_v",
                commands,
                layout,
                0,
                List.of(List.of(1)));
    }

    // Of two weeks in August 2024, and until March 2025.

    @ParameterizedTest
    @CsvSource({
        "executable.create, command_buffer.dispatch, command_buffer.dispatch.indirect",
        "executable.create2, command_buffer.dispatch2, command_buffer.dispatch2.indirect"
    })
    void executablesOfAugust2024HaveNeitherLayoutsNorAffinity(String create, String dispatch, String indirect) {
        Executable executable =
                hal.one(create, "0rrrr_r", hal.device, HalFixture.text(AddKernel.FORMAT), HalFixture.bytes(0), null);
        Buffer in = hal.buffer(1, 2);
        Buffer between = hal.buffer(0, 0);
        Buffer out = hal.buffer(0, 0);
        Buffer counts = counts(2, 1, 1);
        CommandBuffer commands = hal.one("command_buffer.create", "0riiIi_r", hal.device, 1, 3, -1L, 0);
        hal.call(
                dispatch,
                "0rriiiiICiDCiirIID_v",
                commands,
                executable,
                0,
                2,
                1,
                1,
                0L,
                List.of(List.of(10)),
                List.of(List.of(0, 0, in, 0L, 8L), List.of(0, 0, between, 0L, 8L)));
        hal.call("command_buffer.execution_barrier", "0riii_v", commands, ANY_STAGE, ANY_STAGE, 0);
        hal.call(
                indirect,
                "0rriirIICiDCiirIID_v",
                commands,
                executable,
                0,
                0,
                counts,
                0L,
                0L,
                List.of(List.of(100)),
                List.of(List.of(0, 0, between, 0L, 8L), List.of(0, 0, out, 0L, 8L)));
        hal.call("command_buffer.finalize", "0r_v", commands);
        execute(List.of(commands));
        assertThat(HalFixture.ints(out)).containsExactly(111, 112);
    }

    @Test
    void commandsUntilMarch2025HaveSlotsAndNoFlags() {
        Buffer buffer = hal.buffer(0, 0, 0, 0);
        CommandBuffer commands = hal.one("command_buffer.create", "0riiIi_r", hal.device, 1, 3, -1L, 0);
        hal.call("command_buffer.fill_buffer", "0rrIIiii_v", commands, buffer, 0L, 4L, 0, 5, 4);
        hal.call(
                "command_buffer.update_buffer",
                "0rrIrIIi_v",
                commands,
                HalFixture.bytes(0, 6, 0, 0, 0),
                1L,
                buffer,
                4L,
                4L,
                0);
        hal.call("command_buffer.execution_barrier", "0riii_v", commands, ANY_STAGE, ANY_STAGE, 0);
        hal.call("command_buffer.copy_buffer", "0riirIrII_v", commands, 0, 0, buffer, 0L, buffer, 8L, 8L);
        hal.call("command_buffer.finalize", "0r_v", commands);
        execute(List.of(commands));
        assertThat(HalFixture.ints(buffer)).containsExactly(5, 6, 5, 6);
    }

    @Test
    void queuesUntilMarch2025HaveNoFlags() {
        Fence allocated = fence();
        Buffer buffer =
                hal.one("device.queue.alloca", "0rIrriiiI_r", hal.device, -1L, null, allocated, 0, MEMORY, USAGE, 8L);
        HalFixture.assertReached(allocated);
        HalFile file = hal.one(
                "ex.file.from_memory",
                "0rIirIIi_r",
                hal.device,
                -1L,
                1,
                HalFixture.bytes(1, 0, 0, 0, 2, 0, 0, 0),
                0L,
                8L,
                0);
        Fence read = fence();
        hal.call("device.queue.read", "0rIrrrIrIIi_v", hal.device, -1L, allocated, read, file, 0L, buffer, 0L, 8L, 0);
        HalFixture.assertReached(read);
        assertThat(HalFixture.ints(buffer)).containsExactly(1, 2);
        Fence written = fence();
        hal.call("device.queue.write", "0rIrrrIrIIi_v", hal.device, -1L, read, written, buffer, 0L, file, 0L, 8L, 0);
        assertThat(hal.failure(StatusCode.PERMISSION_DENIED, "fence.await", "0iCrD_i", -1, List.of(List.of(written))))
                .hasMessageContaining("write needs a file with access WRITE");
    }

    @Test
    void deallocationsUntilMarch2025HaveNoFlags() {
        Fence allocated = fence();
        Buffer buffer =
                hal.one("device.queue.alloca", "0rIrriiiI_r", hal.device, -1L, null, allocated, 0, MEMORY, USAGE, 8L);
        Fence freed = fence();
        hal.call("device.queue.dealloca", "0rIrrr_v", hal.device, -1L, allocated, freed, buffer);
        HalFixture.assertReached(freed);
        hal.failure(StatusCode.FAILED_PRECONDITION, "buffer.load", "0rIi_i", buffer, 0L, 4);
        assertThat(hal.failure(
                        StatusCode.UNIMPLEMENTED,
                        "device.queue.alloca",
                        "0rIrriiiI_r",
                        hal.device,
                        -1L,
                        null,
                        null,
                        3,
                        MEMORY,
                        USAGE,
                        8L))
                .hasMessageContaining("pool 3");
    }

    @Test
    void severalCommandBuffersRunInOrderAndNoneIsABarrier() {
        Buffer buffer = hal.buffer(0, 0);
        List<CommandBuffer> all = new ArrayList<>();
        for (int i = 1; i <= 20; i++) {
            CommandBuffer commands = hal.one("command_buffer.create", "0riii_r", hal.device, 1, 1, 0);
            hal.call("command_buffer.fill_buffer", "0rrIIii_v", commands, buffer, i % 2 * 4L, 4L, i, 4);
            hal.call("command_buffer.finalize", "0r_v", commands);
            all.add(commands);
        }
        execute(all);
        assertThat(HalFixture.ints(buffer)).containsExactly(20, 19);
        execute(List.of());
    }

    @Test
    void fencesUntilMarch2025HaveNoFlags() {
        Fence first = fence();
        Fence second = fence();
        Fence joined = hal.one("fence.join", "0CrD_r", List.of(List.of(first), List.of(second)));
        assertThat(hal.<Integer>one("fence.await", "0iCrD_i", 0, List.of(List.of(joined))))
                .isEqualTo(StatusCode.DEADLINE_EXCEEDED.number());
        hal.call("fence.signal", "0r_v", first);
        hal.call("fence.signal", "0r_v", second);
        assertThat(hal.<Integer>one("fence.await", "0iCrD_i", -1, List.of(List.of(joined), List.of(first))))
                .isZero();
        Object none = hal.one("fence.join", "0CrD_r", List.of(Collections.singletonList(null)));
        assertThat(none).isNull();
        hal.failure(StatusCode.INVALID_ARGUMENT, "fence.create", "0ri_r", hal.device, 8);
        hal.failure(StatusCode.INVALID_ARGUMENT, "fence.create", "0rI_r", hal.device, 8L);
    }

    private Buffer counts(int... values) {
        Buffer buffer =
                hal.one("allocator.allocate", "0riiI_r", hal.device.allocator(), MEMORY, USAGE, values.length * 4L);
        buffer.map(MemoryAccess.WRITE, 0, Buffer.WHOLE).copyFrom(MemorySegment.ofArray(values));
        return buffer;
    }

    private Fence fence() {
        return hal.one("fence.create", "0ri_r", hal.device, 0);
    }

    private void execute(List<CommandBuffer> commands) {
        Fence done = fence();
        hal.call(
                "device.queue.execute",
                "0rIrrCrD_v",
                hal.device,
                -1L,
                null,
                done,
                commands.stream().map(each -> List.<Object>of(each)).toList());
        HalFixture.assertReached(done);
    }

    private static Object[] withFlags(String convention, Object... arguments) {
        List<Object> all = new ArrayList<>(List.of(arguments));
        if (convention.endsWith("I_v")) {
            all.add(0L);
        }
        return all.toArray();
    }

    private Object setLayout(int... ordinals) {
        List<List<Object>> bindings = new ArrayList<>();
        for (int ordinal : ordinals) {
            bindings.add(List.of(ordinal, 7, 0));
        }
        return hal.one("descriptor_set_layout.create", "0riCiiiD_r", hal.device, 0, bindings);
    }

    private Object layout(int constants, int bindings) {
        int[] ordinals = new int[bindings];
        for (int i = 0; i < bindings; i++) {
            ordinals[i] = i;
        }
        return hal.one(
                "pipeline_layout.create", "0riCrD_r", hal.device, constants, List.of(List.of(setLayout(ordinals))));
    }

    private Executable executable(Object... layouts) {
        List<List<Object>> list = new ArrayList<>();
        for (Object layout : layouts) {
            list.add(List.of(layout));
        }
        return hal.one(
                "executable.create",
                "0rrrrCrD_r",
                hal.device,
                HalFixture.text(AddKernel.FORMAT),
                HalFixture.bytes(0),
                null,
                list);
    }

    private void push(CommandBuffer commands, Object layout, int set, Object... bindings) {
        hal.call("command_buffer.push_descriptor_set", "0rriCiirIID_v", commands, layout, set, List.of(bindings));
    }

    private static List<Object> binding(int ordinal, int slot, Buffer buffer) {
        List<Object> tuple = new ArrayList<>();
        tuple.add(ordinal);
        tuple.add(slot);
        tuple.add(buffer);
        tuple.add(0L);
        tuple.add(buffer == null ? 8L : buffer.length());
        return tuple;
    }
}
