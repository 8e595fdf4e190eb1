package io.github.iree4j.vm.asm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.VmFunction;
import io.github.iree4j.vm.VmModule;
import io.github.iree4j.vm.bytecode.BytecodeModule;
import io.github.iree4j.vm.bytecode.Compilation;
import io.github.iree4j.vm.bytecode.ModuleLimits;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;

/**
 * A VMASM suite: its exports are called, each in a context of its own. Those whose names begin with {@code fail_} must fail, with the
 * status that their attribute {@code fails.with} names if they have one; the others must succeed. All must release what they held.
 */
final class ConformanceSuite {

    private static final int MAX_RESUMES = 10_000;

    private ConformanceSuite() {}

    /** Interpreted and compiled. */
    static Stream<DynamicTest> of(String name, String source) {
        return Stream.concat(of(name, source, Compilation.OFF), of(name + " compiled", source, Compilation.EAGER));
    }

    private static Stream<DynamicTest> of(String name, String source, Compilation compilation) {
        BytecodeModule module = BytecodeModule.read(
                MemorySegment.ofArray(VmAssembler.assemble(source)),
                name,
                SupportModule.types(),
                ModuleLimits.DEFAULTS,
                null,
                compilation);
        if (compilation == Compilation.EAGER) {
            assertThat(module.compilation().refused())
                    .as("functions that stay interpreted")
                    .isEmpty();
        }
        return module.exports().stream()
                .map(export -> DynamicTest.dynamicTest(name + "." + export.name(), () -> check(module, export)));
    }

    private static void check(BytecodeModule module, VmFunction export) {
        SupportModule support = new SupportModule();
        List<VmModule> modules = new ArrayList<>();
        modules.add(support.module());
        modules.add(SupportModule.yieldableTestModule());
        modules.add(module);
        IreeException failure = null;
        try (Context context = Context.create(modules, ContextOptions.DEFAULTS);
                Invocation invocation = context.invocation(export)) {
            run(invocation);
        } catch (IreeException e) {
            failure = e;
        }
        boolean mustFail = export.name().startsWith("fail_");
        if (failure != null && !mustFail) {
            throw failure;
        }
        if (mustFail) {
            assertThat(failure)
                    .as("'%s' returned, but must fail", export.fullName())
                    .isNotNull();
            String wanted = export.attributes().get("fails.with");
            if (wanted != null) {
                assertThat(failure.code().name()).as(failure.toString()).isEqualTo(wanted);
            }
            assertThat(failure.getMessage()).as("says where").contains(export.fullName());
        }
        assertThat(support.live()).as("objects that nobody released").isZero();
    }

    private static void run(Invocation invocation) {
        boolean done = invocation.start();
        for (int i = 0; !done; i++) {
            if (i == MAX_RESUMES) {
                fail("still yielding after %d times", MAX_RESUMES);
            }
            done = invocation.resume();
        }
    }
}
