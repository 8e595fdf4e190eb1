package io.github.iree4j.vm.bytecode;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmFunction;
import io.github.iree4j.vm.isa.FeatureBits;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A broken function per rule. Unless the rule is about them, each has 4 value and 2 reference registers and at most 2
 * blocks.
 */
class FunctionVerifierTest {
    /**
     * The module around the function: two types, a constant, 12 bytes and 2 references of state, two imports, another
     * function.
     */
    private static final String AROUND = """
            vm.module @m version 0
            vm.type i32
            vm.type !vm.buffer
            vm.import @other.plain cconv "0iI_r"
            vm.import @other.spans cconv "0iCrID_v"
            vm.rodata[0] = 00
            vm.state bytes 12 refs 2
            vm.export @f
            vm.func @f() -> () {
              vm.registers values 4 refs 2
            %s  vm.return
            }
            vm.func @g(%%i0: i32, %%i2:3: i64, %%r0: !vm.buffer) -> (i64) {
              vm.return %%i2:3
            }
            """.formatted("  %i0 = vm.const.i32 1\n".repeat(20));

    private static Body in() {
        return new Body().block();
    }

    private static Arguments rule(String claim, Body body, int blocks, String... messages) {
        return Arguments.of(claim, body, blocks, messages);
    }

    static Stream<Arguments> rules() {
        return Stream.of(
                rule(
                        "first instruction is not a block",
                        new Body().returnNothing(),
                        1,
                        "offset 0x0: return is outside of a block"),
                rule("block within a block", in().block().returnNothing(), 2, "offset 0x1: a block starts before"),
                rule(
                        "code after a terminator",
                        in().returnNothing().op("const.i32.zero").u16(0),
                        1,
                        "const.i32.zero is outside of a block"),
                rule("no terminator", in().op("const.i32.zero").u16(0), 1, "its last block has no terminator"),
                rule("unknown opcode", in().u8(0x9F), 1, "offset 0x1: opcode 0x9f is not in bytecode 17.0"),
                rule(
                        "unknown opcode of a set",
                        in().u8(0xE0).u8(0xFF),
                        1,
                        "opcode 0xff of EXT_F32 is not in bytecode 17.0"),
                rule("prefix at the end", in().u8(0xE0), 1, "opcode [2, 3) does not fit a function of 2 bytes"),
                rule(
                        "register cut off",
                        in().op("add.i32").u16(0, 0).u8(0),
                        1,
                        "offset 0x1: result [6, 8) does not fit a function of 7 bytes"),
                rule(
                        "literal cut off",
                        in().op("const.i64").u32(0),
                        1,
                        "value [2, 10) does not fit a function of 6 bytes"),
                rule(
                        "list cut off",
                        in().op("return").align().u16(3, 0),
                        1,
                        "operands [4, 10) does not fit a function of 6 bytes"),
                rule(
                        "string cut off",
                        in().op("fail").u16(0, 100),
                        1,
                        "message [6, 106) does not fit a function of 6 bytes"),
                rule(
                        "table cut off",
                        in().op("br_table").u16(0).u32(0).remap().u16(900),
                        1,
                        "case target",
                        "does not fit"),
                rule("too few blocks", in().returnNothing(), 2, "it has 1 blocks where 2 are declared"),
                rule(
                        "too many blocks",
                        in().returnNothing().block().returnNothing(),
                        1,
                        "it has 2 blocks where 1 are declared"),
                rule(
                        "branch into an instruction",
                        in().op("br").u32(2).remap(),
                        1,
                        "offset 0x2 is branched to and no block starts there"),
                rule(
                        "branch past the end",
                        in().op("br").u32(1000).remap(),
                        1,
                        "target of br is offset 1000 and the function has 8 bytes"),
                rule("branch before the start", in().op("br").u32(-1).remap(), 1, "target of br is offset 4294967295"),
                rule(
                        "false branch astray",
                        in().op("cond_br").u16(0).u32(0).remap().u32(77).remap(),
                        1,
                        "false target of cond_br is offset 77"),
                rule(
                        "case astray",
                        in().op("br_table").u16(0).u32(0).remap().u16(1).u32(99).remap(),
                        1,
                        "case target of br_table is offset 99"),
                rule(
                        "resume point astray",
                        in().op("call.yieldable").u32(0).list().u32(99).list(),
                        1,
                        "resume target of call.yieldable is offset 99"),
                rule(
                        "value register too high",
                        in().op("add.i32").u16(0, 4, 1).returnNothing(),
                        1,
                        "right of add.i32 is value register 4 and the function has 4 such registers"),
                rule(
                        "result register too high",
                        in().op("add.i32").u16(0, 1, 0x7FFF).returnNothing(),
                        1,
                        "result of add.i32 is value register 32767"),
                rule(
                        "high word too high",
                        in().op("not.i64").u16(4, 0).returnNothing(),
                        1,
                        "operand of not.i64 is value register 4"),
                rule(
                        "odd pair",
                        in().op("not.i64").u16(0, 1).returnNothing(),
                        1,
                        "result of not.i64 is value register 1 where 64 bits need an even register"),
                rule(
                        "odd pair of floats",
                        in().op("neg.f64").u16(1, 0).returnNothing(),
                        1,
                        "operand of neg.f64 is value register 1 where 64 bits need"),
                rule(
                        "reference for a value",
                        in().op("not.i32").u16(Body.REF, 0).returnNothing(),
                        1,
                        "operand of not.i32 is reference register 0 where a value register is wanted"),
                rule(
                        "value for a reference",
                        in().op("list.size").u16(0, 0).returnNothing(),
                        1,
                        "list of list.size is value register 0 where a reference register is wanted"),
                rule(
                        "reference too high",
                        in().op("list.size").u16(Body.REF | 2, 0).returnNothing(),
                        1,
                        "list of list.size is reference register 2 and the function has 2 such registers"),
                rule(
                        "MOVE without meaning",
                        in().op("list.size").u16(Body.MOVE, 0).returnNothing(),
                        1,
                        "list of list.size is reference register 0 with a MOVE bit"),
                rule(
                        "MOVE of a comparison",
                        in().op("cmp.eq.ref").u16(Body.REF, Body.MOVE | 1, 0).returnNothing(),
                        1,
                        "right of cmp.eq.ref is reference register 1 with a MOVE bit"),
                rule(
                        "type too high",
                        in().op("cast.any.ref")
                                .u16(Body.REF)
                                .u32(2)
                                .u16(Body.REF)
                                .returnNothing(),
                        1,
                        "cast.any.ref refers to type 2 and there are 2"),
                rule(
                        "type negative",
                        in().op("list.alloc").u32(-1).u16(0, Body.REF).returnNothing(),
                        1,
                        "list.alloc refers to type 4294967295 and there are 2"),
                rule(
                        "constant too high",
                        in().op("const.ref.rodata").u32(1).u16(Body.REF).returnNothing(),
                        1,
                        "const.ref.rodata refers to rodata segment 1 and there are 1"),
                rule(
                        "global reference too high",
                        in().op("global.load.ref").u32(2).u32(1).u16(Body.REF).returnNothing(),
                        1,
                        "global.load.ref refers to global reference 2 and there are 2"),
                rule(
                        "global across the end",
                        in().op("global.load.i32").u32(9).u16(0).returnNothing(),
                        1,
                        "global.load.i32 accesses global bytes [9, 13) and there are 12"),
                rule(
                        "wide global across the end",
                        in().op("global.store.i64").u32(8).u16(0).returnNothing(),
                        1,
                        "global.store.i64 accesses global bytes [8, 16) and there are 12"),
                rule(
                        "global that would wrap",
                        in().op("global.load.f64").u32(-4).u16(0).returnNothing(),
                        1,
                        "global.load.f64 accesses global bytes [4294967292, 4294967300)"),
                rule(
                        "function too high",
                        in().op("call").u32(2).list().list().returnNothing(),
                        1,
                        "call refers to function 2 and there are 2"),
                rule(
                        "import too high",
                        in().op("call").u32(Body.IMPORT | 2).list().list().returnNothing(),
                        1,
                        "call refers to import 2 and there are 2"),
                rule(
                        "is a function resolved",
                        in().op("import.resolved").u32(1).u16(0).returnNothing(),
                        1,
                        "function 1 is not an import"),
                rule(
                        "too few arguments",
                        in().op("call").u32(1).list(0, 2).list(0).returnNothing(),
                        1,
                        "call has 2 arguments where 3 are wanted"),
                rule(
                        "too many arguments",
                        in().op("call")
                                .u32(Body.IMPORT)
                                .list(0, 2, 0)
                                .list(Body.REF)
                                .returnNothing(),
                        1,
                        "call has 3 arguments where 2 are wanted"),
                rule(
                        "too few results",
                        in().op("call").u32(Body.IMPORT).list(0, 2).list().returnNothing(),
                        1,
                        "call has 0 results where 1 are wanted"),
                rule(
                        "argument of the other bank",
                        in().op("call")
                                .u32(Body.IMPORT)
                                .list(Body.REF, 2)
                                .list(Body.REF)
                                .returnNothing(),
                        1,
                        "argument 0 of call is reference register 0 where a value register is wanted"),
                rule(
                        "argument not even",
                        in().op("call")
                                .u32(Body.IMPORT)
                                .list(0, 1)
                                .list(Body.REF)
                                .returnNothing(),
                        1,
                        "argument 1 of call is value register 1 where 64 bits need an even register"),
                rule(
                        "result of the other bank",
                        in().op("call").u32(Body.IMPORT).list(0, 2).list(0).returnNothing(),
                        1,
                        "result 0 of call is value register 0 where a reference register is wanted"),
                rule("return of too much", in().op("return").list(0), 1, "return has 1 results where 0 are wanted"),
                rule(
                        "spans without sizes",
                        in().op("call").u32(Body.IMPORT | 1).list(0).list().returnNothing(),
                        1,
                        "convention '0iCrID_v' of the callee has a span"),
                rule(
                        "spans for a function",
                        in().op("call.variadic").u32(1).list().list().list().returnNothing(),
                        1,
                        "only imports can be called with spans"),
                rule(
                        "too few sizes",
                        in().op("call.variadic")
                                .u32(Body.IMPORT | 1)
                                .list(0xFFFF)
                                .list(0)
                                .list()
                                .returnNothing(),
                        1,
                        "the call gives 1 span sizes"),
                rule(
                        "too many sizes",
                        in().op("call.variadic")
                                .u32(Body.IMPORT | 1)
                                .list(0xFFFF, 0, 0)
                                .list(0)
                                .list()
                                .returnNothing(),
                        1,
                        "the call gives 3 span sizes for 2 arguments"),
                rule(
                        "span larger than the list",
                        in().op("call.variadic")
                                .u32(Body.IMPORT | 1)
                                .list(0xFFFF, 60000)
                                .list(0)
                                .list()
                                .returnNothing(),
                        1,
                        "the call gives 60000 tuples for argument 1"),
                rule(
                        "span smaller than the list",
                        in().op("call.variadic")
                                .u32(Body.IMPORT | 1)
                                .list(0xFFFF, 0)
                                .list(0, Body.REF, 0)
                                .list()
                                .returnNothing(),
                        1,
                        "call.variadic has 3 arguments where 1 are wanted"),
                rule(
                        "span of the wrong bank",
                        in().op("call.variadic")
                                .u32(Body.IMPORT | 1)
                                .list(0xFFFF, 1)
                                .list(0, 0, 0)
                                .list()
                                .returnNothing(),
                        1,
                        "argument 1 of call.variadic is value register 0 where a reference"),
                rule(
                        "copy between banks",
                        in().op("br").u32(0).remap(0, Body.REF),
                        1,
                        "operands copy value register 0 to reference register 0, which is in the other bank"),
                rule("copy from nowhere", in().op("br").u32(0).remap(9, 0), 1, "operands of br is value register 9"),
                rule(
                        "copy to nowhere",
                        in().op("br").u32(0).remap(Body.REF, Body.REF | 9),
                        1,
                        "operands of br is reference register 9"),
                rule(
                        "copy of a case to nowhere",
                        in().op("br_table").u16(0).u32(0).remap().u16(1).u32(0).remap(0, 9),
                        1,
                        "cases of br_table is value register 9"),
                rule(
                        "value discarded",
                        in().op("discard.refs").list(0).returnNothing(),
                        1,
                        "references of discard.refs is value register 0"),
                rule(
                        "traced from nowhere",
                        in().op("trace").u16(0).list(8).returnNothing(),
                        1,
                        "operands of trace is value register 8"),
                rule(
                        "values of a switch",
                        in().op("switch.i64").u16(0, 0).list(2, 3).u16(0).returnNothing(),
                        1,
                        "values of switch.i64 is value register 3 where 64 bits need"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("rules")
    void brokenFunctionIsRejectedWithPlaceAndReason(String claim, Body body, int blocks, String[] messages) {
        byte[] file = body.into(AROUND, body.size(), FeatureBits.AVAILABLE, blocks, 4, 2);
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> Programs.read(file))
                .withMessageContainingAll(messages)
                .withMessageContainingAll("module file 'test.vmfb'", "function 'm.f'")
                .matches(e -> e.code() == StatusCode.INVALID_ARGUMENT, "INVALID_ARGUMENT");
    }

    @Test
    void theUnbrokenFunctionIsAccepted() {
        assertThatCode(() -> {
                    byte[] file = in().op("add.i32")
                            .u16(0, 3, 1)
                            .op("not.i64")
                            .u16(0, 2)
                            .returnNothing()
                            .into(AROUND, 1, 4, 2);
                    Programs.read(file).close();
                })
                .doesNotThrowAnyException();
    }

    @Test
    void floatsNeedTheirFeature() {
        Body body = in().op("neg.f32").u16(0, 0).returnNothing();
        byte[] file = body.into(AROUND, body.size(), 0, 1, 4, 2);
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> Programs.read(file))
                .withMessageContaining("neg.f32 needs feature EXT_F32, which the function does not require");
    }

    @Test
    void unknownFeatureIsIncompatible() {
        Body body = in().returnNothing();
        byte[] file = body.into(AROUND, body.size(), 64 | FeatureBits.YIELD, 1, 4, 2);
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> Programs.read(file))
                .withMessageContaining("needs features 0x40 and bytecode 17.0 has EXT_F32|EXT_F64|YIELD|UNWIND")
                .matches(e -> e.code() == StatusCode.INCOMPATIBLE);
    }

    @Test
    void unusedArgumentsNeedNotBeDeclared() {
        String text = AROUND.replace("vm.func @f() -> ()", "vm.func @f(%i0: i32, %i2:3: i64, %r0: !vm.buffer) -> ()");
        byte[] file = in().returnNothing().into(text, 1, 0, 0);
        NativeModule other = NativeModule.builder("other", 0, Object::new)
                .function("plain", "0iI_r", (state, call) -> call.returnRef(null))
                .function("spans", "0iCrID_v", (state, call) -> {})
                .build();
        try (BytecodeModule module = Programs.read(file);
                Context context = Context.create(List.of(other, module), ContextOptions.DEFAULTS)) {
            VmFunction function = Objects.requireNonNull(context.function("m.f"));
            assertThatCode(() ->
                            context.invocation(function).i32(1).i64(2).nullRef().run())
                    .doesNotThrowAnyException();
        }
    }

    @Test
    void bytecodeFunctionsCannotTakeSpans() {
        String text = "vm.module @m\nvm.func @f() -> () {\n  vm.cconv \"0CiD_v\"\n  vm.return\n}\n";
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> Programs.read(io.github.iree4j.vm.asm.VmAssembler.assemble(text)))
                .withMessageContaining("convention '0CiD_v' has a span");
    }

    @Test
    void argumentsMustFitTheRegistersNameableByInstructions() {
        String text = "vm.module @m\nvm.func @f() -> () {\n  vm.cconv \"0%s_v\"\n  vm.return\n}\n"
                .formatted("r".repeat(0x4001));
        byte[] file = io.github.iree4j.vm.asm.VmAssembler.assemble(text);
        // The descriptor, with a block and so many references, is changed to declare fewer.
        int descriptor = Body.find(file, new byte[] {1, 0, 0, 0, 0x01, 0x40});
        file[descriptor + 5] = 0;
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> Programs.read(file))
                .withMessageContaining("need 0 value and 16385 reference registers, more than");
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("descriptors")
    void impossibleDescriptorIsRejected(String claim, int length, int blocks, int words, int refs, String message) {
        byte[] file = in().returnNothing().into(AROUND, length, -1, blocks, words, refs);
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> Programs.read(file))
                .withMessageContaining(message)
                .matches(e -> e.code() == StatusCode.INVALID_ARGUMENT);
    }

    static Stream<Arguments> descriptors() {
        return Stream.of(
                Arguments.of("no code", 0, 1, 4, 2, "code of function 0 [0, 0) is empty"),
                Arguments.of("negative length", -8, 1, 4, 2, "code of function 0 [0, -8) is empty or outside"),
                Arguments.of(
                        "longer than the code",
                        1 << 20,
                        1,
                        4,
                        2,
                        "code of function 0 [0, 1048576) is empty or outside"),
                Arguments.of("longest possible", Integer.MAX_VALUE, 1, 4, 2, "code of function 0 [0, 2147483647)"),
                Arguments.of("no blocks", 4, 0, 4, 2, "function 0 has 0 blocks"),
                Arguments.of("negative blocks", 4, -1, 4, 2, "function 0 has -1 blocks"),
                Arguments.of("too many value registers", 4, 1, 0x8000, 2, "function 0 has 32768 value"),
                Arguments.of("too many reference registers", 4, 1, 4, 0x4000, "16384 reference registers"));
    }
}
