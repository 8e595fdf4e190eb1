package io.github.iree4j.tools;

import io.github.iree4j.Tensor;
import io.github.iree4j.modules.parameters.IrpaWriter;
import io.github.iree4j.modules.parameters.ParameterArchive;
import io.github.iree4j.modules.parameters.ParameterEntry;
import io.github.iree4j.modules.parameters.ParameterProgress;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tools.ParameterInputs.Input;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code iree4j parameters convert}: merges parameter files into an {@code .irpa}, with the flags of {@code
 * iree-convert-parameters}.
 */
@Command(
        name = "convert",
        description = "Writes the parameters of files (.irpa, .gguf, .safetensors) to a single .irpa archive.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class ParametersConvertCommand implements Runnable {
    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    @Mixin
    private ParameterInputs inputs;

    @Option(
            names = {"-o", "--output"},
            required = true,
            paramLabel = "FILE",
            description = "The archive to write, possibly also an input.")
    private Path output;

    @Option(names = "--exclude", paramLabel = "KEY", description = "Leaves a parameter out.")
    private Set<String> excluded = new LinkedHashSet<>();

    @Option(names = "--rename", paramLabel = "OLD=NEW", description = "Gives a parameter another key.")
    private List<String> renamings = new ArrayList<>();

    @Option(names = "--strip", description = "Replaces all parameters with zeros, taking no space in the archive.")
    private boolean strip;

    @Option(
            names = "--splat",
            paramLabel = "KEY[=TYPE=VALUE]",
            description =
                    "Replaces a parameter with zeros, or with a repeated value: KEY=f32=4.5, KEY=i8=3, KEY=x32=CAFEF00D.")
    private List<String> splats = new ArrayList<>();

    @Option(names = "--quiet", description = "Does not print the table of the archive written.")
    private boolean quiet;

    @Option(names = "--progress", description = "Reports progress on standard error.")
    private boolean progress;

    ParametersConvertCommand() {}

    @Override
    public void run() {
        List<Input> files = inputs.open();
        try {
            IrpaWriter writer = new IrpaWriter();
            collect(files).values().forEach(writer::add);
            writer.write(output, progress ? this::report : null);
        } catch (IOException e) {
            throw IreeException.of(
                    StatusCode.UNAVAILABLE, "archive '%s' cannot be written: %s".formatted(output, e), e);
        } finally {
            ParameterInputs.close(files);
        }
        if (!quiet) {
            try (ParameterArchive written = ParameterArchive.open(output)) {
                ParameterTable.print("", written, spec.commandLine().getOut());
            }
        }
    }

    private Map<String, ParameterEntry> collect(List<Input> files) {
        Map<String, String> names = renamed();
        Map<String, byte[]> patterns = patterns();
        Set<String> unused = new LinkedHashSet<>(excluded);
        unused.addAll(names.keySet());
        unused.addAll(patterns.keySet());
        Map<String, ParameterEntry> entries = new LinkedHashMap<>();
        Map<String, Path> from = new HashMap<>();
        for (Input input : files) {
            for (ParameterEntry entry : input.archive().entries()) {
                String key = entry.key();
                unused.remove(key);
                if (excluded.contains(key)) {
                    continue;
                }
                String name = names.getOrDefault(key, key);
                unused.remove(name);
                Path other = from.put(name, input.archive().path());
                if (other != null) {
                    throw IreeException.of(
                            StatusCode.ALREADY_EXISTS,
                            "parameter '%s' is in '%s' and in '%s'; use --exclude or --rename, or convert the files separately"
                                    .formatted(name, other, input.archive().path()));
                }
                byte[] pattern = patterns.getOrDefault(key, patterns.get(name));
                entries.put(name, converted(entry, name, pattern == null && strip ? new byte[1] : pattern));
            }
        }
        if (!unused.isEmpty()) {
            throw IreeException.of(
                    StatusCode.NOT_FOUND,
                    "flags name parameters missing in all files: %s; 'iree4j parameters dump' lists the existing parameters"
                            .formatted(String.join(", ", unused)));
        }
        return entries;
    }

    private static ParameterEntry converted(ParameterEntry entry, String name, byte @Nullable [] pattern) {
        if (pattern != null) {
            return new ParameterEntry.Splat(name, entry.length(), pattern);
        }
        return switch (entry) {
            case ParameterEntry.Splat splat -> new ParameterEntry.Splat(name, splat.length(), splat.pattern());
            case ParameterEntry.Stored stored ->
                new ParameterEntry.Stored(name, stored.data(), stored.owner(), stored.origin());
        };
    }

    private Map<String, String> renamed() {
        Map<String, String> names = new LinkedHashMap<>();
        for (String renaming : renamings) {
            int equals = renaming.indexOf('=');
            if (equals < 0) {
                throw wrong("--rename needs OLD=NEW, but is '%s'".formatted(renaming));
            }
            names.put(renaming.substring(0, equals), renaming.substring(equals + 1));
        }
        return names;
    }

    private Map<String, byte[]> patterns() {
        Map<String, byte[]> patterns = new LinkedHashMap<>();
        for (String splat : splats) {
            int equals = splat.indexOf('=');
            String key = equals < 0 ? splat : splat.substring(0, equals);
            patterns.put(key, equals < 0 ? new byte[1] : pattern(splat.substring(equals + 1)));
        }
        return patterns;
    }

    /** Reads {@code type=value}; {@code x32=} and the like give the bits in hexadecimal. */
    private byte[] pattern(String typed) {
        int equals = typed.indexOf('=');
        if (equals < 0) {
            throw wrong("--splat needs KEY or KEY=TYPE=VALUE, but the value is '%s'".formatted(typed));
        }
        if (typed.startsWith("x")) {
            String digits = typed.substring(equals + 1);
            try {
                int size = Integer.parseInt(typed.substring(1, equals)) / Byte.SIZE;
                byte[] bytes = HexFormat.of().parseHex("0".repeat(Math.max(0, 2 * size - digits.length())) + digits);
                if (bytes.length != size) {
                    throw wrong("--splat value '%s' does not fit the type".formatted(typed));
                }
                byte[] little = new byte[size];
                for (int i = 0; i < size; i++) {
                    little[i] = bytes[size - 1 - i];
                }
                return little;
            } catch (IllegalArgumentException e) {
                throw wrong("--splat value '%s' is not a hexadecimal number".formatted(typed));
            }
        }
        try (Tensor scalar = Tensor.parse(typed)) {
            return scalar.rawBytes();
        }
    }

    private void report(ParameterProgress progressed) {
        PrintWriter err = spec.commandLine().getErr();
        long total = Math.max(1, progressed.totalBytes());
        err.println(
                "%3d%% of %d bytes".formatted((int) (100.0 * progressed.doneBytes() / total), progressed.totalBytes()));
        err.flush();
    }

    private CommandLine.ParameterException wrong(String message) {
        return new CommandLine.ParameterException(spec.commandLine(), message);
    }
}
