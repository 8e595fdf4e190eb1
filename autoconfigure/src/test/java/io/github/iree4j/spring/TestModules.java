package io.github.iree4j.spring;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.asm.VmAssembler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Small modules assembled by tests, and the locations of compiled fixtures. */
public final class TestModules {

    /** Adds two integers; needs no device. */
    private static final String ADD = """
            vm.module @adder version 3
            vm.type i32

            vm.export @add
            vm.func @add(%i0: i32, %i1: i32) -> (i32) {
            ^entry:
              %i0 = vm.add.i32 %i0, %i1
              vm.return %i0
            }

            vm.export @refuse
            vm.func @refuse() -> () {
            ^entry:
              %i0 = vm.const.i32 13
              vm.fail %i0, "not today"
            }
            """;

    /** A function without and with fences, as programs imported from PyTorch and ONNX have each function. */
    private static final String TWOFOLD = """
            vm.module @twofold version 0
            vm.type i32
            vm.type !hal.fence

            vm.export @main$async
            vm.func @main$async(%i0: i32, %r0: !hal.fence, %r1: !hal.fence) -> (i32) {
            ^entry:
              vm.discard.refs %r0, %r1
              %i1 = vm.const.i32 5
              vm.fail %i1, "not this one"
            }

            vm.export @main
            vm.func @main(%i0: i32) -> (i32) {
            ^entry:
              %i0 = vm.add.i32 %i0, %i0
              vm.return %i0
            }
            """;

    /** Rejects all devices, like a program compiled for another device. */
    private static final String DEMANDING = """
            vm.module @demanding version 0
            vm.type i32

            vm.export @__init
            vm.func @__init() -> () {
            ^entry:
              %i0 = vm.const.i32 18
              vm.fail %i0, "HAL device `default` not found or unavailable"
            }
            """;

    /** Loads 16 bytes of parameter {@code weight} without naming a scope; {@code size} says how long the buffer is. */
    private static final String UNSCOPED = """
            vm.module @unscoped version 0
            vm.type i32
            vm.type i64
            vm.type !vm.buffer
            vm.type !vm.list<?>
            vm.type !hal.buffer
            vm.type !hal.device
            vm.type !hal.fence
            vm.import @hal.devices.get cconv "0i_r"
            vm.import @hal.fence.create cconv "0rI_r"
            vm.import @hal.fence.await cconv "0iICrD_i"
            vm.import @hal.buffer.length cconv "0r_I"
            vm.import @io_parameters.load cconv "0rIrrrIiirrr_r"
            vm.rodata[0] @keys = 00000000 06000000
            vm.rodata[1] @names = "weight"
            vm.rodata[2] @spans = 0000000000000000 0000000000000000 1000000000000000

            vm.export @size
            vm.func @size() -> (i64) {
            ^entry:
              %i0 = vm.const.i32.zero
              %r0 = vm.call @hal.devices.get(%i0)
              %i2:3 = vm.const.i64.zero
              %i4:5 = vm.const.i64 -1
              %r1 = vm.call @hal.fence.create(%r0, %i2:3)
              %r2 = vm.const.ref.zero
              %r3 = vm.const.ref.rodata @keys
              %r4 = vm.const.ref.rodata @names
              %r5 = vm.const.ref.rodata @spans
              %i6 = vm.const.i32 48
              %i7 = vm.const.i32 525315
              %r6 = vm.call @io_parameters.load(%r0, %i4:5, %r2, %r1, %r2, %i4:5, %i6, %i7, %r3, %r4, %r5)
              %i8 = vm.const.i32 -1
              %i9 = vm.call.variadic @hal.fence.await segments[65535, 65535, 1](%i8, %i2:3, %r1)
              %r7 = vm.list.get.ref %r6, %i0 : !hal.buffer
              %i2:3 = vm.call @hal.buffer.length(%r7)
              vm.discard.refs %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7
              vm.return %i2:3
            }
            """;

    /** Counts calls in state per context. */
    private static final String COUNTER = """
            vm.module @counter version 0
            vm.type i32
            vm.global.i32 mutable @count

            vm.export @next
            vm.func @next() -> (i32) {
            ^entry:
              %i0 = vm.global.load.i32 @count
              %i1 = vm.const.i32 1
              %i0 = vm.add.i32 %i0, %i1
              vm.global.store.i32 %i0, @count
              vm.return %i0
            }
            """;

    /** Never returns. */
    private static final String SPINNER = """
            vm.module @spinner version 0

            vm.export @spin
            vm.func @spin() -> () {
            ^entry:
              vm.br ^entry
            }
            """;

    /** The initialiser never returns. */
    private static final String ENDLESS = """
            vm.module @endless version 0

            vm.export @__init
            vm.func @__init() -> () {
            ^entry:
              vm.br ^entry
            }
            """;

    /** Waits for the given fence. */
    private static final String WAITER = """
            vm.module @waiter version 0
            vm.type i32
            vm.type i64
            vm.type !hal.fence
            vm.import @hal.fence.await cconv "0iICrD_i"

            vm.export @wait
            vm.func @wait(%r0: !hal.fence) -> (i32) {
            ^entry:
              %i0 = vm.const.i32 -1
              %i2:3 = vm.const.i64.zero
              %i0 = vm.call.variadic @hal.fence.await segments[65535, 65535, 1](%i0, %i2:3, %r0)
              vm.discard.refs %r0
              vm.return %i0
            }
            """;

    /** Loads 16 bytes of parameter {@code weight} of scope {@code model} during initialisation. */
    private static final String WEIGHTED = """
            vm.module @weighted version 0
            vm.type i32
            vm.type i64
            vm.type !vm.buffer
            vm.type !vm.list<?>
            vm.type !hal.device
            vm.type !hal.fence
            vm.import @hal.devices.get cconv "0i_r"
            vm.import @hal.fence.create cconv "0rI_r"
            vm.import @hal.fence.await cconv "0iICrD_i"
            vm.import @io_parameters.load cconv "0rIrrrIiirrr_r"
            vm.rodata[0] @keys = 00000000 06000000
            vm.rodata[1] @names = "weight"
            vm.rodata[2] @spans = 0000000000000000 0000000000000000 1000000000000000
            vm.rodata[3] @scope = "model"

            vm.export @__init
            vm.func @__init() -> () {
            ^entry:
              %i0 = vm.const.i32.zero
              %r0 = vm.call @hal.devices.get(%i0)
              %i2:3 = vm.const.i64.zero
              %i4:5 = vm.const.i64 -1
              %r1 = vm.call @hal.fence.create(%r0, %i2:3)
              %r2 = vm.const.ref.zero
              %r3 = vm.const.ref.rodata @keys
              %r4 = vm.const.ref.rodata @names
              %r5 = vm.const.ref.rodata @spans
              %r7 = vm.const.ref.rodata @scope
              %i6 = vm.const.i32 48
              %i7 = vm.const.i32 525315
              %r6 = vm.call @io_parameters.load(%r0, %i4:5, %r2, %r1, %r7, %i4:5, %i6, %i7, %r3, %r4, %r5)
              %i8 = vm.const.i32 -1
              %i9 = vm.call.variadic @hal.fence.await segments[65535, 65535, 1](%i8, %i2:3, %r1)
              vm.discard.refs %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7
              vm.return
            }
            """;

    /** Doubles a number with {@code custom.twice}, provided by another module. */
    private static final String DOUBLING = """
            vm.module @doubling version 0
            vm.type i32
            vm.import @custom.twice cconv "0i_i"

            vm.export @fourfold
            vm.func @fourfold(%i0: i32) -> (i32) {
            ^entry:
              %i0 = vm.call @custom.twice(%i0)
              %i0 = vm.call @custom.twice(%i0)
              vm.return %i0
            }
            """;

    /** Allocates 64 MiB on the device during initialisation. */
    private static final String HUNGRY = """
            vm.module @hungry version 0
            vm.type i32
            vm.type i64
            vm.type !hal.buffer
            vm.type !hal.device
            vm.type !hal.fence
            vm.import @hal.devices.get cconv "0i_r"
            vm.import @hal.fence.create cconv "0rI_r"
            vm.import @hal.fence.await cconv "0iICrD_i"
            vm.import @hal.device.queue.alloca cconv "0rIrrIiiII_r"

            vm.export @__init
            vm.func @__init() -> () {
            ^entry:
              %i0 = vm.const.i32.zero
              %r0 = vm.call @hal.devices.get(%i0)
              %i2:3 = vm.const.i64.zero
              %i4:5 = vm.const.i64 -1
              %r1 = vm.call @hal.fence.create(%r0, %i2:3)
              %r2 = vm.const.ref.zero
              %i6 = vm.const.i32 48
              %i7 = vm.const.i32 3075
              %i8:9 = vm.const.i64 67108864
              %r3 = vm.call @hal.device.queue.alloca(%r0, %i4:5, %r2, %r1, %i2:3, %i6, %i7, %i8:9, %i2:3)
              %i10 = vm.const.i32 -1
              %i11 = vm.call.variadic @hal.fence.await segments[65535, 65535, 1](%i10, %i2:3, %r1)
              vm.discard.refs %r0, %r1, %r2, %r3
              vm.cond_br %i11, ^failed(), ^done()
            ^failed:
              vm.fail %i11, "no memory"
            ^done:
              vm.return
            }
            """;

    /**
     * Allocates as much as the input on the device in queue order and holds the memory during a call of {@code
     * gate.pass}, and returns the result, an element for each row.
     */
    private static final String HEAVY = """
            vm.module @heavy version 0
            vm.type i32
            vm.type i64
            vm.type !hal.buffer
            vm.type !hal.buffer_view
            vm.type !hal.device
            vm.type !hal.fence
            vm.import @hal.buffer.length cconv "0r_I"
            vm.import @hal.buffer_view.buffer cconv "0r_r"
            vm.import @hal.devices.get cconv "0i_r"
            vm.import @hal.fence.create cconv "0rI_r"
            vm.import @hal.fence.await cconv "0iICrD_i"
            vm.import @hal.device.queue.alloca cconv "0rIrrIiiII_r"
            vm.import @gate.pass cconv "0r_r"

            vm.export @work
            vm.func @work(%r0: !hal.buffer_view) -> (!hal.buffer_view) {
              vm.attr "iree.abi.declaration" = "sync func @work(%input0: tensor<?x64xf32>) -> (%output0: tensor<?xf32>)"
            ^entry:
              %i12 = vm.const.i32.zero
              %r1 = vm.call @hal.devices.get(%i12)
              %i2:3 = vm.const.i64.zero
              %i4:5 = vm.const.i64 -1
              %r2 = vm.call @hal.fence.create(%r1, %i2:3)
              %r3 = vm.const.ref.zero
              %i6 = vm.const.i32 48
              %i7 = vm.const.i32 3075
              %r4 = vm.call @hal.buffer_view.buffer(%r0)
              %i8:9 = vm.call @hal.buffer.length(%r4)
              %r5 = vm.call @hal.device.queue.alloca(%r1, %i4:5, %r3, %r2, %i2:3, %i6, %i7, %i8:9, %i2:3)
              %i10 = vm.const.i32 -1
              %i11 = vm.call.variadic @hal.fence.await segments[65535, 65535, 1](%i10, %i2:3, %r2)
              vm.cond_br %i11, ^failed(), ^done()
            ^failed:
              vm.fail %i11, "no memory"
            ^done:
              %r6 = vm.call @gate.pass(%r0)
              vm.discard.refs %r0, %r1, %r2, %r3, %r4, %r5
              vm.return %r6
            }
            """;

    /** Imports a nonexistent HAL function. */
    private static final String FUTURE = """
            vm.module @future version 0
            vm.type i32
            vm.import @hal.device.dream cconv "0i_i"

            vm.export @dream
            vm.func @dream(%i0: i32) -> (i32) {
            ^entry:
              %i0 = vm.call @hal.device.dream(%i0)
              vm.return %i0
            }
            """;

    private TestModules() {}

    /** Writes a module that allocates 64 MiB during initialisation. */
    public static Path hungry(Path directory) throws IOException {
        return hungry(directory, 67108864);
    }

    /** The same with so many bytes. */
    public static Path hungry(Path directory, long bytes) throws IOException {
        return Files.write(
                directory.resolve("hungry.vmfb"),
                VmAssembler.assemble(HUNGRY.replace("67108864", Long.toString(bytes))));
    }

    /** Writes module {@code heavy} with function {@code work} and an import of {@code gate.pass}. */
    public static Path heavy(Path directory) throws IOException {
        return Files.write(directory.resolve("heavy.vmfb"), VmAssembler.assemble(HEAVY));
    }

    /** Writes a module with an import missing in the runtime. */
    public static Path future(Path directory) throws IOException {
        return Files.write(directory.resolve("future.vmfb"), VmAssembler.assemble(FUTURE));
    }

    /** Writes a module that loads a parameter during initialisation. */
    public static Path weighted(Path directory) throws IOException {
        return Files.write(directory.resolve("weighted.vmfb"), VmAssembler.assemble(WEIGHTED));
    }

    /** Writes module {@code doubling} with function {@code fourfold} and imports from {@code custom}. */
    public static Path doubling(Path directory) throws IOException {
        return Files.write(directory.resolve("doubling.vmfb"), VmAssembler.assemble(DOUBLING));
    }

    /** Writes a module with an endless function {@code spin}. */
    public static Path spinner(Path directory) throws IOException {
        return Files.write(directory.resolve("spinner.vmfb"), VmAssembler.assemble(SPINNER));
    }

    /** Writes a module with an endless initialiser. */
    public static Path endless(Path directory) throws IOException {
        return Files.write(directory.resolve("endless.vmfb"), VmAssembler.assemble(ENDLESS));
    }

    /** Writes module {@code waiter} with function {@code wait} of a fence. */
    public static Path waiter(Path directory) throws IOException {
        return Files.write(directory.resolve("waiter.vmfb"), VmAssembler.assemble(WAITER));
    }

    /** Writes module {@code counter} with function {@code next}. */
    public static Path counter(Path directory) throws IOException {
        return Files.write(directory.resolve("counter.vmfb"), VmAssembler.assemble(COUNTER));
    }

    /** Writes module {@code adder} with functions {@code add} and {@code refuse}. */
    public static Path adder(Path directory) throws IOException {
        return Files.write(directory.resolve("adder.vmfb"), VmAssembler.assemble(ADD));
    }

    /**
     * Writes module {@code twofold} with functions {@code main$async}, always failing, and {@code main}, which doubles
     * a number.
     */
    public static Path twofold(Path directory) throws IOException {
        return Files.write(directory.resolve("twofold.vmfb"), VmAssembler.assemble(TWOFOLD));
    }

    /** Writes a module without a possible initialisation. */
    public static Path demanding(Path directory) throws IOException {
        return Files.write(directory.resolve("demanding.vmfb"), VmAssembler.assemble(DEMANDING));
    }

    /** Writes a module whose function {@code size} loads a parameter without naming a scope. */
    public static Path unscoped(Path directory) throws IOException {
        return Files.write(directory.resolve("unscoped.vmfb"), VmAssembler.assemble(UNSCOPED));
    }

    /** A compiled fixture in {@code fixtures/} of the repository: a module or a parameter archive. */
    public static Path fixture(String name) {
        Path file = Path.of("../fixtures", name.endsWith(".irpa") ? "parameters" : "modules")
                .resolve(name)
                .toAbsolutePath()
                .normalize();
        if (!Files.isRegularFile(file)) {
            throw new IllegalArgumentException("there is no fixture " + file);
        }
        return file;
    }

    /** Loads a program with a function {@code f} that takes nothing, returns nothing and does nothing. */
    public static Program idle(IreeRuntime runtime) {
        return runtime.load(ProgramOptions.builder()
                .module(NativeModule.builder("m", 1, Object::new)
                        .function("f", "0v_v", (state, call) -> {})
                        .build())
                .build());
    }
}
