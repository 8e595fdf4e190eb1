package io.github.iree4j;

import io.github.iree4j.vm.asm.VmAssembler;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * Creates a module of the size of a language model: 443 dispatch sites, in two functions of dynamic shapes, each behind
 * index arithmetic as compilers write it; an executable with many functions; and parameters, loaded last by {@code
 * __init}.
 */
final class LanguageModel {
    static final int DISPATCHES = 443;
    static final int PARAMETERS = 291;
    static final String SCOPE = "model";

    private static final int KERNELS = 96;
    private static final int ARITHMETIC = 190;

    private static final String HEAD = """
        vm.module @module version 0
        vm.type i32
        vm.type i64
        vm.type !hal.buffer
        vm.type !hal.buffer_view
        vm.type !hal.command_buffer
        vm.type !hal.device
        vm.type !hal.executable
        vm.type !hal.fence
        vm.type !vm.buffer
        vm.type !vm.list<!vm.ref<!hal.buffer>>
        vm.dependency @io_parameters version 0
        vm.dependency @hal version 6
        vm.import @hal.buffer_view.create cconv "0rIIiiCID_r"
        vm.import @hal.buffer_view.buffer cconv "0r_r"
        vm.import @hal.buffer_view.dim cconv "0ri_I"
        vm.import @hal.command_buffer.create cconv "0riiIi_r"
        vm.import @hal.command_buffer.finalize cconv "0r_v"
        vm.import @hal.command_buffer.execution_barrier cconv "0riiI_v"
        vm.import @hal.command_buffer.dispatch cconv "0rriiiiICiDCiirIID_v"
        vm.import @hal.device.query.i64 cconv "0rrr_iI"
        vm.import @hal.device.queue.alloca cconv "0rIrrIiiII_r"
        vm.import @hal.device.queue.execute cconv "0rIrrrI_v"
        vm.import @hal.devices.get cconv "0i_r"
        vm.import @hal.executable.create cconv "0rIrrr_r"
        vm.import @hal.fence.create cconv "0rI_r"
        vm.import @hal.fence.await cconv "0iICrD_i"
        vm.import @io_parameters.load cconv "0rIrrrIiirrr_r"
        """;

    private static final String INIT = """
        vm.export @__init
        vm.func @__init() -> () {
        ^bb0:
          %%i0 = vm.const.i32.zero
          %%i1 = vm.const.i32 48
          %%i2 = vm.const.i32 527363
          %%i4:5 = vm.const.i64 -1
          %%i6:7 = vm.const.i64.zero
          %%r0 = vm.const.ref.zero
          %%r1 = vm.call @hal.devices.get(%%i0)
          %%r2 = vm.const.ref.rodata 0
          %%r3 = vm.const.ref.rodata 1
          %%i8, %%i10:11 = vm.call @hal.device.query.i64(%%r1, %%r2, %%r3)
          %%i9 = vm.cmp.nz.i64 %%i10:11
          %%i9 = vm.and.i32 %%i8, %%i9
          vm.cond_br %%i9, ^bb1(), ^bb2()
        ^bb1:
          vm.global.store.ref %%r1, .refs[0] : !hal.device
          %%r4 = vm.const.ref.rodata 2
          %%r5 = vm.call @hal.executable.create(%%r1, %%i4:5, %%r3, %%r4, %%r0)
          vm.global.store.ref %%R5, .refs[1] : !hal.executable
          %%r6 = vm.call @hal.fence.create(%%r1, %%i6:7)
          %%r7 = vm.const.ref.rodata 3
          %%r8 = vm.const.ref.rodata 4
          %%r9 = vm.const.ref.rodata 5
          %%r10 = vm.const.ref.rodata 6
          %%r11 = vm.call @io_parameters.load(%%r1, %%i4:5, %%r0, %%r6, %%r7, %%i4:5, %%i1, %%i2, %%r8, %%r9, %%r10)
        %s  vm.return
        ^bb2:
          %%i0 = vm.const.i32 14
          vm.fail %%i0, "the executable is not supported"
        }
        """;

    private LanguageModel() {}

    /** The module file. */
    static byte[] file() {
        return VmAssembler.assemble(text());
    }

    private static String text() {
        StringBuilder text = new StringBuilder(HEAD);
        ByteBuffer table = ByteBuffer.allocate(8 * PARAMETERS).order(ByteOrder.LITTLE_ENDIAN);
        ByteBuffer spans = ByteBuffer.allocate(24 * PARAMETERS).order(ByteOrder.LITTLE_ENDIAN);
        StringBuilder keys = new StringBuilder();
        StringBuilder stores = new StringBuilder();
        for (int i = 0; i < PARAMETERS; i++) {
            String key = "blk." + i / 9 + ".ffn_weight." + i;
            table.putInt(keys.length()).putInt(key.length());
            keys.append(key);
            spans.putLong(0).putLong(0).putLong(4096L * 4096 * 2);
            stores.append("  %i12 = vm.const.i32 ").append(i).append('\n');
            stores.append("  %r12 = vm.list.get.ref %r11, %i12 : !hal.buffer\n");
            stores.append("  vm.global.store.ref %R12, .refs[").append(2 + i).append("] : !hal.buffer\n");
        }
        rodata(text, 0, "hal.executable.format".getBytes(StandardCharsets.UTF_8));
        rodata(text, 1, "vmvx-bytecode-fb".getBytes(StandardCharsets.UTF_8));
        text.append("vm.rodata[2] align 64 external = ")
                .append(HexFormat.of().formatHex(executable()))
                .append('\n');
        rodata(text, 3, SCOPE.getBytes(StandardCharsets.UTF_8));
        rodata(text, 4, table.array());
        rodata(text, 5, keys.toString().getBytes(StandardCharsets.UTF_8));
        rodata(text, 6, spans.array());
        text.append("vm.state bytes 64 refs ").append(2 + PARAMETERS).append('\n');
        function(text, "prefill", DISPATCHES / 2);
        function(text, "decode", DISPATCHES - DISPATCHES / 2);
        text.append(INIT.formatted(stores));
        return text.toString();
    }

    private static void rodata(StringBuilder text, int ordinal, byte[] bytes) {
        text.append("vm.rodata[")
                .append(ordinal)
                .append("] = ")
                .append(HexFormat.of().formatHex(bytes))
                .append('\n');
    }

    /**
     * Takes tokens, allocates, records a number of dispatches between parameters and temporary memory, submits and
     * waits.
     */
    private static void function(StringBuilder text, String name, int dispatches) {
        text.append("vm.export @").append(name).append('\n');
        text.append("vm.func @").append(name).append("(%r0: !vm.ref<?>) -> (!vm.ref<?>) {\n^bb0:\n");
        text.append("""
              %i0 = vm.const.i32.zero
              %i1 = vm.const.i32 1
              %i2 = vm.const.i32 3
              %i3 = vm.const.i32 28
              %i4 = vm.const.i32 13
              %i5 = vm.const.i32 48
              %i6 = vm.const.i32 3075
              %i7 = vm.const.i32 -1
              %i8:9 = vm.const.i64 -1
              %i10:11 = vm.const.i64.zero
              %i12:13 = vm.const.i64 4096
              %i14 = vm.const.i32 553648160
              %i20:21 = vm.call @hal.buffer_view.dim(%r0, %i0)
              %i22:23 = vm.call @hal.buffer_view.dim(%r0, %i1)
              %i15 = vm.const.i32 32
              %i24:25 = vm.const.i64 7
              %i26:27 = vm.const.i64 3
              %r1 = vm.const.ref.zero
              %r2 = vm.global.load.ref .refs[0] : !hal.device
              %r3 = vm.global.load.ref .refs[1] : !hal.executable
              %r4 = vm.call @hal.buffer_view.buffer(%R0)
              %r5 = vm.call @hal.fence.create(%r2, %i10:11)
              %r6 = vm.call @hal.device.queue.alloca(%r2, %i8:9, %r1, %r5, %i10:11, %i5, %i6, %i12:13, %i10:11)
              %r7 = vm.call @hal.command_buffer.create(%r2, %i1, %i2, %i8:9, %i0)
            """);
        for (int site = 0; site < dispatches; site++) {
            for (int i = 0; i < ARITHMETIC; i++) {
                int to = 28 + 2 * (i % 16);
                int from = 20 + 2 * ((i + site) % 20);
                String target = "%i" + to + ":" + (to + 1);
                String source = "%i" + from + ":" + (from + 1);
                text.append(
                        switch (i % 5) {
                            case 0 -> "  %s = vm.mul.i64 %s, %%i20:21\n".formatted(target, source);
                            case 1 -> "  %s = vm.add.i64 %s, %%i22:23\n".formatted(target, source);
                            case 2 -> "  %s = vm.div.i64.s %s, %%i24:25\n".formatted(target, source);
                            case 3 -> "  %s = vm.select.i64 %%i1 ? %s : %%i26:27\n".formatted(target, source);
                            default -> "  %%i%d = vm.trunc.i64.i32 %s\n".formatted(60 + i % 8, source);
                        });
            }
            int weight = 2 + site % PARAMETERS;
            text.append("  %r8 = vm.global.load.ref .refs[").append(weight).append("] : !hal.buffer\n");
            text.append("  %i16 = vm.const.i32 ").append(site % KERNELS).append('\n');
            text.append("  vm.call.variadic @hal.command_buffer.dispatch segments[65535, 65535, 65535, 65535, 65535,"
                    + " 65535, 65535, 6, 4](%r7, %r3, %i16, %i1, %i1, %i1, %i10:11, %i60, %i61, %i62, %i63, %i64,"
                    + " %i65, %i0, %i0, %r4, %i10:11, %i12:13, %i0, %i0, %R8, %i10:11, %i12:13, %i0, %i0, %r6,"
                    + " %i10:11, %i12:13, %i0, %i0, %r6, %i10:11, %i12:13)\n");
            text.append("  vm.call @hal.command_buffer.execution_barrier(%r7, %i3, %i4, %i10:11)\n");
        }
        text.append("""
              vm.call @hal.command_buffer.finalize(%r7)
              %r9 = vm.call @hal.fence.create(%r2, %i10:11)
              vm.call @hal.device.queue.execute(%r2, %i8:9, %r5, %r9, %R7, %i10:11)
              %i16 = vm.call.variadic @hal.fence.await segments[65535, 65535, 1](%i7, %i10:11, %R9)
              vm.cond_br %i16, ^bb2(), ^bb1()
            ^bb1:
              %r0 = vm.call.variadic @hal.buffer_view.create segments[65535, 65535, 65535, 65535, 65535, 1](%R6, %i10:11, %i12:13, %i14, %i1, %i20:21)
              vm.return %R0
            ^bb2:
              vm.fail %i16, "failed to wait on timepoint"
            }
            """);
    }

    /** Kernels with a loop over their bindings. */
    private static byte[] executable() {
        StringBuilder text =
                new StringBuilder("vm.module @kernels\nvm.type !vm.buffer\nvm.type !vm.list<!vm.buffer>\n");
        for (int kernel = 0; kernel < KERNELS; kernel++) {
            text.append("vm.export @kernel_").append(kernel).append('\n');
        }
        for (int kernel = 0; kernel < KERNELS; kernel++) {
            text.append("vm.func @kernel_").append(kernel).append("""
                (%r0: !vm.buffer, %r1: !vm.buffer, %r2: !vm.list<!vm.buffer>, %i0: i32, %i1: i32, %i2: i32, %i3: i32, %i4: i32, %i5: i32, %i6: i32, %i7: i32, %i8: i32) -> () {
                ^bb0:
                  %i10:11 = vm.const.i64.zero
                  %i12:13 = vm.const.i64 1024
                  %i14:15 = vm.const.i64 1
                  %i9 = vm.const.i32.zero
                  %r3 = vm.list.get.ref %r2, %i9 : !vm.buffer
                  vm.br ^bb1()
                ^bb1:
                """);
            for (int i = 0; i < 100; i++) {
                text.append("  %i16 = vm.buffer.load.i32 %r3, %i10:11\n  %i16 = vm.add.i32 %i16, %i9\n");
            }
            text.append("""
                  vm.buffer.store.i32 %i16, %r3, %i10:11
                  %i10:11 = vm.add.i64 %i10:11, %i14:15
                  %i9 = vm.cmp.lt.i64.s %i10:11, %i12:13
                  vm.cond_br %i9, ^bb1(), ^bb2()
                ^bb2:
                  vm.return
                }
                """);
        }
        return VmAssembler.assemble(text.toString());
    }
}
