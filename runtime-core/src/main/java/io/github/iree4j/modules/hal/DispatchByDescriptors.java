package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmCall;
import java.util.ArrayList;
import java.util.List;

/**
 * Dispatches of compilers up to August 2024: constants and bindings are pushed to the command buffer, and layouts of
 * pipelines and descriptor sets declare the constants and bindings of a function. The declared constants and bindings
 * are passed to the HAL with each dispatch, bindings without gaps.
 */
final class DispatchByDescriptors {
    private static final long WORKGROUP_COUNTS_SIZE = 3 * Integer.BYTES;

    private DispatchByDescriptors() {}

    static void register(NativeModule.Builder<HalState> module) {
        module.function("descriptor_set_layout.create", "0riCiiiD_r", DispatchByDescriptors::createSetLayout)
                .function("pipeline_layout.create", "0riCrD_r", DispatchByDescriptors::createPipelineLayout)
                .function("executable.create", "0rrrrCrD_r", DispatchByDescriptors::createExecutable)
                .function("command_buffer.push_constants", "0rriCiD_v", DispatchByDescriptors::pushConstants)
                .function("command_buffer.push_descriptor_set", "0rriCiirIID_v", DispatchByDescriptors::pushSet)
                // From July 2024 on with flags.
                .function("command_buffer.dispatch", "0rriiiiI_v", (s, c) -> dispatch(s, c, true))
                .function("command_buffer.dispatch.indirect", "0rriirII_v", (s, c) -> dispatchIndirect(s, c, true))
                .function("command_buffer.dispatch", "0rriiii_v", (s, c) -> dispatch(s, c, false))
                .function("command_buffer.dispatch.indirect", "0rrirI_v", (s, c) -> dispatchIndirect(s, c, false));
    }

    private static void createSetLayout(HalState state, VmCall call) {
        state.own(call.required(Device.class));
        call.i32(); // flags: how often the set changes; not needed
        int[] ordinals = new int[Arguments.count("bindings", call.spanCount(), CommandBuffer.MAXIMUM_BINDINGS)];
        for (int i = 0; i < ordinals.length; i++) {
            ordinals[i] = ordinal(call.i32());
            for (int k = 0; k < i; k++) {
                if (ordinals[k] == ordinals[i]) {
                    throw IreeException.of(
                            StatusCode.INVALID_ARGUMENT, "'bindings' has duplicate binding %d".formatted(ordinals[i]));
                }
            }
            call.i32(); // type: storage or uniform buffer, both are ranges of a buffer here
            call.i32(); // flags: whether the binding is only read
        }
        call.returnRef(new DescriptorSetLayout(ordinals));
    }

    private static void createPipelineLayout(HalState state, VmCall call) {
        state.own(call.required(Device.class));
        int constants = call.i32();
        if (constants < 0 || constants > CommandBuffer.MAXIMUM_CONSTANTS) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "'push_constants' is %d, must be from 0 to %d"
                            .formatted(constants, CommandBuffer.MAXIMUM_CONSTANTS));
        }
        int count = Arguments.count("set_layouts", call.spanCount(), Descriptors.MAX_SETS);
        List<DescriptorSetLayout> sets = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            sets.add(call.required(DescriptorSetLayout.class));
        }
        PipelineLayout layout = new PipelineLayout(constants, sets);
        Arguments.count("bindings of all sets", layout.bindings(), CommandBuffer.MAXIMUM_BINDINGS);
        call.returnRef(layout);
    }

    private static void createExecutable(HalState state, VmCall call) {
        Device device = state.own(call.required(Device.class));
        ExecutableParams params = ExecutableImports.params(call);
        List<PipelineLayout> layouts = new ArrayList<>();
        for (int n = call.spanCount(); n > 0; n--) {
            layouts.add(call.required(PipelineLayout.class));
        }
        params = new ExecutableParams(
                params.format(),
                params.data(),
                params.owner(),
                params.constants(),
                layouts.stream().map(PipelineLayout::toExecutableLayout).toList());
        Executable executable = state.executable(device, params);
        try {
            if (!layouts.isEmpty() && layouts.size() != executable.exportCount()) {
                throw IreeException.of(
                        StatusCode.FAILED_PRECONDITION,
                        "executable of format '%s' has %d exports and the program gives %d pipeline layouts"
                                .formatted(executable.format(), executable.exportCount(), layouts.size()));
            }
            if (!layouts.isEmpty()) {
                state.descriptors().setLayouts(executable, layouts);
            }
        } catch (RuntimeException e) {
            executable.release();
            throw e;
        }
        call.returnRef(executable);
    }

    private static void pushConstants(HalState state, VmCall call) {
        CommandBuffer commands = call.required(CommandBuffer.class);
        call.required(PipelineLayout.class);
        int offset = call.i32();
        int count = call.spanCount();
        if (offset < 0 || offset > CommandBuffer.MAXIMUM_CONSTANTS - count) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "constants [%d, %d) are pushed, the limit is %d"
                            .formatted(offset, (long) offset + count, CommandBuffer.MAXIMUM_CONSTANTS));
        }
        Descriptors descriptors = state.descriptors().of(commands);
        for (int i = 0; i < count; i++) {
            descriptors.constant(offset + i, call.i32());
        }
    }

    private static void pushSet(HalState state, VmCall call) {
        CommandBuffer commands = call.required(CommandBuffer.class);
        PipelineLayout layout = call.required(PipelineLayout.class);
        int set = call.i32();
        if (set < 0 || set >= layout.sets().size()) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "descriptor set %d of a layout with %d does not exist"
                            .formatted(set, layout.sets().size()));
        }
        Descriptors descriptors = state.descriptors().of(commands);
        for (int n = call.spanCount(); n > 0; n--) {
            int ordinal = ordinal(call.i32());
            int slot = call.i32();
            Buffer buffer = call.ref(Buffer.class);
            descriptors.bind(set, ordinal, new BufferRef(buffer, slot, call.i64(), call.i64()));
        }
    }

    private static int ordinal(int binding) {
        if (binding < 0 || binding >= CommandBuffer.MAXIMUM_BINDINGS) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "binding %d of a descriptor set, must be from 0 to %d"
                            .formatted(binding, CommandBuffer.MAXIMUM_BINDINGS - 1));
        }
        return binding;
    }

    private static void dispatch(HalState state, VmCall call, boolean hasFlags) {
        CommandBuffer commands = call.required(CommandBuffer.class);
        Executable executable = call.required(Executable.class);
        int export = call.i32();
        DispatchConfig config = DispatchConfig.of(call.i32(), call.i32(), call.i32());
        long flags = hasFlags ? Arguments.bits("flags", call.i64(), 0) : 0;
        PipelineLayout layout = state.descriptors().layout(executable, export);
        Descriptors pushed = state.descriptors().of(commands);
        commands.dispatch(executable, export, config, pushed.constants(layout), pushed.bindings(layout), flags);
    }

    private static void dispatchIndirect(HalState state, VmCall call, boolean hasSlotAndFlags) {
        CommandBuffer commands = call.required(CommandBuffer.class);
        Executable executable = call.required(Executable.class);
        int export = call.i32();
        int slot = hasSlotAndFlags ? call.i32() : 0;
        Buffer buffer = hasSlotAndFlags ? call.ref(Buffer.class) : call.required(Buffer.class);
        BufferRef counts = new BufferRef(buffer, slot, call.i64(), WORKGROUP_COUNTS_SIZE);
        if (hasSlotAndFlags) {
            Arguments.bits("flags", call.i64(), 0);
        }
        PipelineLayout layout = state.descriptors().layout(executable, export);
        Descriptors pushed = state.descriptors().of(commands);
        commands.dispatchIndirect(
                executable,
                export,
                counts,
                pushed.constants(layout),
                pushed.bindings(layout),
                DeviceQueue.DISPATCH_DYNAMIC_INDIRECT_PARAMETERS);
    }
}
