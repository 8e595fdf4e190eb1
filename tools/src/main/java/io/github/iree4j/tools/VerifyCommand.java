package io.github.iree4j.tools;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.generation.Generator;
import io.github.iree4j.generation.GeneratorOptions;
import io.github.iree4j.hal.gpu.GpuCode;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.bytecode.ModuleBytes;
import io.github.iree4j.vm.bytecode.ModuleDef;
import io.github.iree4j.vm.bytecode.ModuleLimits;
import io.github.iree4j.vm.bytecode.ModuleVerifier;
import io.github.iree4j.vm.bytecode.ModuleVerifier.Finding;
import io.github.iree4j.vm.bytecode.ProgramCheck;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code iree4j verify}: lists all defects of modules without running them, and the differences of rows of language models. */
@Command(
        name = "verify",
        description =
                "Verifies .vmfb modules by the rules of the loader, and lists all findings, not only the first. The exit status is 1 for any finding. Lists the CPUs, and the GPUs of NVIDIA and AMD, with code. Warns of loadable modules with possibly wrong results.",
        mixinStandardHelpOptions = true)
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class VerifyCommand implements Callable<Integer> {
    private static final int FAILED = 1;

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    @Parameters(paramLabel = "FILE", description = "The modules.", arity = "1..*")
    private List<Path> files;

    @Option(
            names = "--generation",
            description =
                    "Also runs the modules, which are language models, and measures on the CPU which functions, rows and shapes compute equal bits: every row of every function beside several patterns of other rows, many numbers of columns, and prompts of several steps. A difference is a finding.")
    private boolean generation;

    @Option(
            names = "--parameters",
            paramLabel = "[SCOPE=]FILE",
            description = "A parameter file for --generation. Repeat for several.")
    private List<String> parameters = new ArrayList<>();

    @Option(names = "--config", paramLabel = "FILE", description = "The config.json of the exporter, for --generation.")
    private @Nullable Path config;

    @Option(
            names = "--prompts",
            paramLabel = "N",
            defaultValue = "16",
            description =
                    "Number of prompts for --generation, besides prompts that end where pages and steps end. Default: ${DEFAULT-VALUE}.")
    private int prompts;

    VerifyCommand() {}

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        int status = 0;
        for (Path file : files) {
            Verified verified = verify(file);
            List<Finding> findings = verified.findings();
            findings.forEach(finding -> out.println("%s: %s".formatted(file, finding)));
            out.println(
                    findings.isEmpty()
                            ? "%s: verified".formatted(file)
                            : "%s: %d finding%s".formatted(file, findings.size(), findings.size() == 1 ? "" : "s"));
            if (!verified.cpus().isEmpty()) {
                out.println("%s: code for CPUs: %s".formatted(file, String.join(", ", verified.cpus())));
            }
            verified.code()
                    .forEach((format, targets) -> out.println(
                            "%s: code for GPUs (%s): %s".formatted(file, format, String.join(", ", targets))));
            verified.warnings().forEach(warning -> out.println("%s: warning: %s".formatted(file, warning)));
            status = findings.isEmpty() ? status : FAILED;
            if (generation && findings.isEmpty() && isRestricted(file, out)) {
                status = FAILED;
            }
        }
        return status;
    }

    /** Prints which rows and shapes of a language model compute equal bits. */
    private boolean isRestricted(Path file, PrintWriter out) {
        ProgramOptions.Builder options = ProgramOptions.builder().module(file);
        for (String each : parameters) {
            ProgramFlags.ScopedFile archive = ProgramFlags.ScopedFile.of(each);
            options.parameters(archive.scope(), archive.path());
        }
        GeneratorOptions probe = GeneratorOptions.builder()
                .config(config)
                .probePrompts(prompts)
                .thoroughProbe(true)
                .build();
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(options.build());
                Generator generator = Generator.create(program, probe)) {
            generator.description().lines().forEach(line -> out.println("%s: generation: %s".formatted(file, line)));
            return generator.isRestricted();
        }
    }

    /** The findings of a module; without findings, the CPUs with code, the GPUs with code, by format, and warnings. */
    private record Verified(
            List<Finding> findings, Set<String> cpus, Map<String, Set<String>> code, List<String> warnings) {
        static Verified failed(List<Finding> findings) {
            return new Verified(findings, Set.of(), Map.of(), List.of());
        }

        static Verified of(ModuleDef module) {
            Set<String> cpus = new TreeSet<>();
            Map<String, Set<String>> code = new TreeMap<>();
            List<String> warnings = new ArrayList<>();
            ProgramCheck.installed().forEach(check -> warnings.addAll(check.warnings(module)));
            for (ModuleDef.Rodata constant : module.rodata()) {
                String cpu = CpuCode.architectureOf(constant.bytes());
                if (cpu != null) {
                    cpus.add(CpuCode.described(cpu));
                }
                String format = GpuCode.formatOf(constant.bytes());
                try {
                    if (format != null) {
                        code.computeIfAbsent(format, _ -> new TreeSet<>())
                                .addAll(GpuCode.targets(constant.bytes(), format));
                    }
                } catch (IreeException e) {
                    warnings.add("%s (%s)".formatted(e.getMessage(), format));
                }
            }
            code.values().removeIf(Set::isEmpty);
            return new Verified(List.of(), cpus, code, warnings);
        }
    }

    private static Verified verify(Path file) {
        try (ModuleBytes bytes = ModuleBytes.read(file)) {
            List<Finding> findings = ModuleVerifier.verify(bytes.segment(), null, ModuleLimits.DEFAULTS);
            return findings.isEmpty()
                    ? Verified.of(ModuleDef.read(bytes.segment(), ModuleLimits.DEFAULTS))
                    : Verified.failed(findings);
        } catch (IreeException e) {
            if (e.code() != StatusCode.DATA_LOSS) {
                throw e;
            }
            return Verified.failed(List.of(new Finding(e.code(), null, String.valueOf(e.getMessage()))));
        }
    }
}
