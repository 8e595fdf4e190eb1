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
import io.github.iree4j.vm.isa.FeatureBits;
import io.github.iree4j.vm.isa.Isa;
import io.github.iree4j.vm.isa.Opcode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;

/**
 * A VMASM suite: each export is called in a separate context. Exports with names that begin with {@code fail_} must
 * fail, with the status in the attribute {@code fails.with} if present; the others must succeed. All must release
 * everything held.
 */
final class ConformanceSuite {

    private static final int MAX_RESUMES = 10_000;

    private ConformanceSuite() {}

    private static final Pattern FUNCTION =
            Pattern.compile("(?:vm\\.export [^\\n]*\\n)?vm\\.func @([\\w.$]+)\\(.*?\\n}\\n?", Pattern.DOTALL);
    private static final Pattern MODULE =
            Pattern.compile("^vm\\.module [^\\n]*\\n(?: *vm\\.attr [^\\n]*\\n)*", Pattern.MULTILINE);

    /** Interpreted and compiled, and both in every version of the bytecode. */
    static Stream<DynamicTest> of(String name, String source) {
        List<Stream<DynamicTest>> tests = new ArrayList<>();
        for (Isa isa : Isa.all()) {
            boolean newest = isa == Isa.all().getLast();
            String text = newest ? source : inVersion(source, isa);
            String title = newest ? name : name + " in " + isa;
            tests.add(of(title, text, Compilation.OFF));
            tests.add(of(title + " compiled", text, Compilation.EAGER));
        }
        return tests.stream().flatMap(test -> test);
    }

    /** Returns the suite without functions that use operations or features missing in the version. */
    static String inVersion(String source, Isa isa) {
        Set<String> absent = new HashSet<>();
        for (Opcode opcode : Isa.all().getLast().opcodes()) {
            if (isa.opcode(opcode.op()) == null) {
                absent.add("vm." + opcode.mnemonic() + " ");
            }
        }
        if ((isa.features() & FeatureBits.YIELD) == 0) {
            absent.add("YIELD");
            absent.add("UNWIND");
        }
        String text = source;
        for (boolean found = true; found; ) {
            found = false;
            Matcher functions = FUNCTION.matcher(text);
            while (functions.find()) {
                String function = functions.group(1);
                if (absent.stream().anyMatch(functions.group()::contains)) {
                    absent.add("@" + function + "(");
                    text = text.replace(functions.group(), "")
                            .replaceAll("(?m)^vm\\.export (?:@\\S+ = )?@" + Pattern.quote(function) + "\\s*$", "");
                    found = true;
                    break;
                }
            }
        }
        return MODULE.matcher(text).replaceFirst("$0vm.bytecode " + isa.major() + "\n");
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
            assertThat(failure.getMessage()).as("names the function").contains(export.fullName());
        }
        assertThat(support.live()).as("unreleased objects").isZero();
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
