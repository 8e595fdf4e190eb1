package io.github.iree4j.tools;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.RuntimeBuilder;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.modules.parameters.ParameterProgress;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmModule;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The flags for the program and the devices, shared by all commands running programs. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class ProgramFlags {
    private static final String STANDARD_INPUT = "standard input";

    @Option(
            names = "--module",
            paramLabel = "FILE",
            description =
                    "A .vmfb, or - for standard input. Repeat for several modules: a module may import from earlier"
                            + " modules.")
    private List<String> modules = new ArrayList<>();

    @Option(
            names = "--parameters",
            paramLabel = "[SCOPE=]FILE",
            description =
                    "A parameter file (.irpa, .gguf or .safetensors), with a scope in the program. Repeat for several;"
                            + " within a scope, the first file with a parameter provides the parameter.")
    private List<String> parameters = new ArrayList<>();

    @Option(
            names = "--device",
            paramLabel = "[NAME=]DEVICE",
            description = "A device, see 'iree4j devices', optionally with a name. Default: local. Repeat for a program"
                    + " compiled for several devices, in the order of the targets; a device may be repeated.")
    private List<String> devices = new ArrayList<>();

    @Option(
            names = "--executable_formats",
            split = ",",
            paramLabel = "FORMAT",
            description = "The executable formats allowed to run, such as vmvx-bytecode-fb. Default: all formats of the"
                    + " devices except system-elf-*: shared libraries can run any code when loaded.")
    private List<String> executableFormats = new ArrayList<>();

    @Option(
            names = "--parameter_progress",
            description = "Reports opened parameter files and load progress on standard error.")
    private boolean parameterProgress;

    @Mixin
    private TopologyFlags topology;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    private byte @Nullable [] standardInput;

    ProgramFlags() {}

    @Option(
            names = "--module_mode",
            paramLabel = "preload|mmap",
            description = "Whether modules are read (the default) or mapped; mapped files must not change.")
    private ModuleMode moduleMode = ModuleMode.preload;

    /** The modes, in the spelling of IREE's tools. */
    enum ModuleMode {
        preload,
        mmap
    }

    @Option(names = "--parameter_mode", hidden = true)
    void parameterMode(String mode) {
        // Accepted for compatibility with IREE's tools; archives are always mapped.
    }

    /** Opens a runtime on the requested devices, owned by the caller. */
    IreeRuntime open() {
        if (modules.isEmpty()) {
            throw new MissingParameterException(
                    spec.commandLine(), spec.findOption("--module"), "Missing required option: '--module=FILE'");
        }
        return openDevices();
    }

    /** As {@link #open}, for a command with modules besides {@code --module}. */
    IreeRuntime openDevices() {
        RuntimeBuilder builder = IreeRuntime.builder();
        topology.apply(builder);
        DeviceOptions options =
                DeviceOptions.builder().executableFormats(executableFormats).build();
        Set<String> names = new HashSet<>();
        for (String device : devices.isEmpty() ? List.of("local") : devices) {
            int equals = device.indexOf('=');
            String uri = device.substring(equals + 1);
            String name = equals < 0 ? unused(uri, names) : device.substring(0, equals);
            if (uri.isEmpty() || name.isEmpty()) {
                throw new ParameterException(
                        spec.commandLine(),
                        "'--device=%s' names no %s; write --device=DEVICE or --device=NAME=DEVICE, such as --device=%s=local ('iree4j devices' lists the devices)"
                                .formatted(device, uri.isEmpty() ? "device" : "name", name.isEmpty() ? "a" : name));
            }
            names.add(name); // a duplicate name is rejected when the runtime is built
            builder.device(name, uri, options);
        }
        return builder.build();
    }

    /** The second "local" is "local-2". */
    private static String unused(String uri, Set<String> names) {
        String name = uri;
        for (int i = 2; names.contains(name); i++) {
            name = uri + "-" + i;
        }
        return name;
    }

    /** Returns options with the modules and parameters, for the command to extend. */
    ProgramOptions.Builder options() throws IOException {
        return options(null);
    }

    /**
     * Returns options with the given modules, the flags' modules and the parameters, for the command to extend.
     *
     * @param last a file after the modules; null for none
     */
    ProgramOptions.Builder options(@Nullable String last, VmModule... before) throws IOException {
        ProgramOptions.Builder builder = ProgramOptions.builder();
        for (VmModule module : before) {
            builder.module(module);
        }
        for (String module : modules) {
            module(builder, module);
        }
        if (last != null) {
            module(builder, last);
        }
        for (String parameter : parameters) {
            ScopedFile file = ScopedFile.of(parameter);
            builder.parameters(file.scope(), file.path());
        }
        return parameterProgress ? builder.parameterListener(this::report) : builder;
    }

    private void module(ProgramOptions.Builder builder, String module) throws IOException {
        if (module.equals("-")) {
            if (standardInput == null) {
                standardInput = System.in.readAllBytes(); // read once, however often loaded
            }
            builder.module(STANDARD_INPUT, standardInput);
        } else if (moduleMode == ModuleMode.preload) {
            builder.module(Path.of(module));
        } else {
            builder.mappedModule(Path.of(module));
        }
    }

    /** Returns the files of the modules and parameters, and the files named by values of arguments. */
    List<Path> files(Collection<String> values) {
        List<Path> files = new ArrayList<>(InputSpecs.files(values));
        modules.stream().filter(each -> !each.equals("-")).map(Path::of).forEach(files::add);
        parameters.stream().map(each -> ScopedFile.of(each).path()).forEach(files::add);
        return files;
    }

    /** Returns the name of the last module's file, without {@code .vmfb}. */
    String fileName() {
        String last = modules.getLast();
        String name =
                last.equals("-") ? STANDARD_INPUT : String.valueOf(Path.of(last).getFileName());
        return name.endsWith(".vmfb") ? name.substring(0, name.length() - 5) : name;
    }

    /** Prints one line; also called by threads of devices. */
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

    /** The scope and file named by {@code [SCOPE=]FILE}. */
    record ScopedFile(String scope, Path path) {
        static ScopedFile of(String text) {
            int equals = text.indexOf('=');
            return new ScopedFile(equals < 0 ? "" : text.substring(0, equals), Path.of(text.substring(equals + 1)));
        }
    }

    /** The functions of the program's last module. */
    static List<ProgramFunction> ownFunctions(Program program) {
        return ownFunctions(program, program.name());
    }

    /** As {@link #ownFunctions(Program)}, of a program loaded with a name. */
    private static List<ProgramFunction> ownFunctions(Program program, String programName) {
        return program.functions().stream()
                .filter(f -> f.fullName().equals(programName + "." + f.name()))
                .toList();
    }

    /** Returns the named function, or the only function. */
    static ProgramFunction function(Program program, @Nullable String name) {
        return function(program, program.name(), name);
    }

    /** As {@link #function(Program, String)}, of a program loaded with a name. */
    static ProgramFunction function(Program program, String programName, @Nullable String name) {
        if (name != null && !name.isEmpty()) {
            return program.function(name);
        }
        List<ProgramFunction> candidates = ownFunctions(program, programName);
        if (candidates.size() != 1) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "module '%s' exports %d functions; choose with --function= (%s)"
                            .formatted(
                                    programName,
                                    candidates.size(),
                                    candidates.stream()
                                            .map(ProgramFunction::name)
                                            .collect(Collectors.joining(", "))));
        }
        return candidates.getFirst();
    }

    /** Prints memory statistics of the devices. */
    static void printStatistics(IreeRuntime runtime, PrintWriter err) {
        for (Device device : runtime.devices()) {
            err.println("Device: " + device.id() + "\n" + device.allocator().statistics());
        }
    }
}
