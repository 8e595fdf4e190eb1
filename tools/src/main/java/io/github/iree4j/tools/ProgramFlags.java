package io.github.iree4j.tools;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.hal.Device;
import io.github.iree4j.modules.parameters.ParameterProgress;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmModule;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The flags with which every command that runs a program says which, and where. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class ProgramFlags {
    @Option(
            names = "--module",
            required = true,
            paramLabel = "FILE",
            description =
                    "A .vmfb, or - for standard input. Repeat it for several modules: later ones may import from earlier ones.")
    private List<String> modules;

    @Option(
            names = "--parameters",
            paramLabel = "[SCOPE=]FILE",
            description =
                    "A parameter file (.irpa, .gguf or .safetensors), with the scope the program knows it by. Repeat it for several; of one scope the first that has a parameter gives it.")
    private List<String> parameters = new ArrayList<>();

    @Option(names = "--device", paramLabel = "DEVICE", description = "A device, see 'iree4j devices'. Default: local.")
    private List<String> devices = new ArrayList<>();

    @Option(
            names = "--parameter_progress",
            description = "Says on standard error which parameter files are opened and how much of them is loaded.")
    private boolean parameterProgress;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    private byte @Nullable [] standardInput;

    ProgramFlags() {}

    @Option(names = "--module_mode", hidden = true)
    void moduleMode(String mode) {
        // Known to IREE's tools; here modules are always mapped.
    }

    @Option(names = "--parameter_mode", hidden = true)
    void parameterMode(String mode) {
        // Known to IREE's tools; here archives are always mapped.
    }

    /** A runtime on the devices asked for, owned by the caller. */
    IreeRuntime open() {
        IreeRuntime.Builder builder = IreeRuntime.builder();
        devices.forEach(builder::device);
        return builder.build();
    }

    /** The modules, after those that the command has itself, and the parameters; for the command to add to. */
    ProgramOptions.Builder options(VmModule... before) throws IOException {
        ProgramOptions.Builder builder = ProgramOptions.builder();
        for (VmModule module : before) {
            builder.module(module);
        }
        for (String module : modules) {
            if (module.equals("-")) {
                if (standardInput == null) {
                    standardInput = System.in.readAllBytes(); // there is only one, however often it is loaded
                }
                builder.module("standard input", standardInput);
            } else {
                builder.module(Path.of(module));
            }
        }
        for (String parameter : parameters) {
            ScopedFile file = ScopedFile.of(parameter);
            builder.parameters(file.scope(), file.path());
        }
        return parameterProgress ? builder.parameterListener(this::report) : builder;
    }

    /** One line; threads of devices call this too. */
    private void report(ParameterProgress progress) {
        PrintWriter err = spec.commandLine().getErr();
        err.println("parameters %s: %s, %d of %d bytes%s"
                .formatted(
                        progress.scope().isEmpty() ? "<global>" : "`" + progress.scope() + "`",
                        progress.phase().name().toLowerCase(Locale.ROOT),
                        progress.doneBytes(),
                        progress.totalBytes(),
                        progress.file() == null ? "" : " '" + progress.file() + "'"));
        err.flush();
    }

    /** What {@code [SCOPE=]FILE} names. */
    record ScopedFile(String scope, Path path) {
        static ScopedFile of(String text) {
            int equals = text.indexOf('=');
            return new ScopedFile(equals < 0 ? "" : text.substring(0, equals), Path.of(text.substring(equals + 1)));
        }
    }

    /** The functions of the program's last module. */
    static List<ProgramFunction> ownFunctions(Program program) {
        String module = program.name() + ".";
        return program.functions().stream()
                .filter(f -> f.fullName().startsWith(module))
                .toList();
    }

    /** The function named, or the only one there is. */
    static ProgramFunction function(Program program, @Nullable String name) {
        if (name != null && !name.isEmpty()) {
            return program.function(name);
        }
        List<ProgramFunction> candidates = ownFunctions(program);
        if (candidates.size() != 1) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "module '%s' exports %d functions; choose one with --function= (%s)"
                            .formatted(
                                    program.name(),
                                    candidates.size(),
                                    candidates.stream()
                                            .map(ProgramFunction::name)
                                            .collect(Collectors.joining(", "))));
        }
        return candidates.getFirst();
    }

    /** What the devices' memory was used for. */
    static void printStatistics(IreeRuntime runtime, PrintWriter err) {
        for (Device device : runtime.devices()) {
            err.println("Device: " + device.id() + "\n" + device.allocator().statistics());
        }
    }
}
