package io.github.iree4j.tools;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tools.file.InputFile;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/**
 * Prepares flags of IREE's runners for a command: flags in files replace the files; a flag missing in the command is
 * dropped when set to the default, and otherwise rejected with an alternative.
 */
final class IreeFlags {
    private static final String FLAG_FILE = "--flagfile";
    private static final int DEEPEST = 8;
    private static final int LARGEST = 1 << 20;

    private IreeFlags() {}

    /**
     * A flag of IREE's runners missing in a command.
     *
     * @param preset the default value
     * @param instead the alternative
     */
    private record Known(String preset, String instead) {}

    /** The known flags, loaded on first use: most command lines need none. */
    private static final class Holder {
        static final Map<String, Known> KNOWN = read();

        private static Map<String, Known> read() {
            try (InputStream in = Objects.requireNonNull(IreeFlags.class.getResourceAsStream("/iree-flags.txt"))) {
                Map<String, Known> known = new HashMap<>();
                for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8).split("\n")) {
                    if (!line.startsWith("#")) {
                        String[] parts = line.split("\\|", 3);
                        known.put(parts[0], new Known(parts[1], parts[2]));
                    }
                }
                return known;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /**
     * Replaces {@code --flagfile=FILE} by the flags in the file, each on a separate line; empty lines and lines
     * beginning with {@code #} or {@code //} are left out.
     *
     * @throws IreeException when a file cannot be read, or holds anything but flags
     */
    static List<String> expanded(List<String> arguments) {
        List<String> expanded = new ArrayList<>();
        expand(arguments, expanded, 0);
        return expanded;
    }

    private static void expand(List<String> arguments, List<String> expanded, int depth) {
        for (int i = 0; i < arguments.size(); i++) {
            String argument = arguments.get(i);
            if (argument.startsWith(FLAG_FILE + "=")) {
                expand(flags(argument.substring(FLAG_FILE.length() + 1), depth + 1), expanded, depth + 1);
            } else if (argument.equals(FLAG_FILE) && i + 1 < arguments.size()) {
                expand(flags(arguments.get(++i), depth + 1), expanded, depth + 1);
            } else {
                expanded.add(argument);
            }
        }
    }

    private static List<String> flags(String file, int depth) {
        if (depth > DEEPEST) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "flag file '%s' is named by %d others in turn; is there a cycle?".formatted(file, DEEPEST));
        }
        List<String> flags = new ArrayList<>();
        int number = 0;
        for (String raw : lines(file)) {
            number++;
            String line = raw.strip();
            if (line.isEmpty() || line.startsWith("#") || line.startsWith("//")) {
                continue;
            }
            if (!line.startsWith("--")) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "flag file '%s', line %d: '%s' is not a flag".formatted(file, number, shortened(line)));
            }
            int equals = line.indexOf('=');
            flags.add(
                    equals < 0
                            ? line
                            : line.substring(0, equals).strip() + "="
                                    + unquoted(line.substring(equals + 1).strip()));
        }
        return flags;
    }

    private static List<String> lines(String file) {
        return InputFile.text("flag file", Path.of(file), LARGEST).lines().toList();
    }

    private static String shortened(String line) {
        return line.length() <= 60 ? line : line.substring(0, 60) + "…";
    }

    private static String unquoted(String value) {
        return value.length() >= 2 && value.startsWith("\"") && value.endsWith("\"")
                ? value.substring(1, value.length() - 1)
                : value;
    }

    /** Returns the command replacing a runner's flag such as {@code --list_devices}, else the given arguments. */
    static List<String> redirected(List<String> arguments) {
        if (!isRunner(arguments)) {
            return arguments;
        }
        for (String argument : arguments) {
            switch (name(argument)) {
                case "--list_drivers", "--list_devices", "--dump_devices" -> {
                    return List.of("devices");
                }
                case "--dump_task_topologies" -> {
                    return List.of("topology");
                }
                default -> {}
            }
        }
        return arguments;
    }

    private static boolean isRunner(List<String> arguments) {
        return !arguments.isEmpty()
                && (arguments.getFirst().equals("run") || arguments.getFirst().equals("benchmark"));
    }

    private static String name(String argument) {
        int equals = argument.indexOf('=');
        return equals < 0 ? argument : argument.substring(0, equals);
    }

    /**
     * Drops flags missing in the command and set to the default.
     *
     * @throws CommandLine.ParameterException for a missing flag set to another value
     */
    static List<String> accepted(List<String> arguments, CommandLine command) {
        if (!isRunner(arguments)) {
            return arguments;
        }
        CommandSpec spec = command.getCommandSpec();
        List<String> accepted = new ArrayList<>();
        for (String argument : arguments) {
            String name = name(argument);
            if (!name.startsWith("--") || spec.findOption(name) != null) {
                accepted.add(argument);
                continue;
            }
            Known known = Holder.KNOWN.get(name.substring(2));
            if (known == null) {
                accepted.add(argument);
                continue;
            }
            String value = name.length() == argument.length() ? "true" : argument.substring(name.length() + 1);
            if (!value.equals(known.preset())) {
                throw new CommandLine.ParameterException(
                        command, "'iree4j %s' has no %s: %s".formatted(spec.name(), name, known.instead()));
            }
        }
        return accepted;
    }
}
