package io.github.iree4j.tools;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.MalformedInputException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/**
 * The flags of IREE's runners, before a command sees them: files of flags are replaced by what they contain; flags that the command
 * does not have are dropped where they say what is so anyway, and otherwise rejected with what to use instead.
 */
final class IreeFlags {
    private static final String FLAG_FILE = "--flagfile";
    private static final int DEEPEST = 8;
    private static final long LARGEST = 1 << 20;

    private IreeFlags() {}

    /**
     * What is known of a flag.
     *
     * @param preset its value when it is not given
     * @param instead what to use here
     */
    private record Known(String preset, String instead) {}

    /** Loads on first use: most command lines name none of these. */
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
     * Replaces {@code --flagfile=FILE} by the flags in the file, one on each line; empty lines and those that begin with {@code #} or
     * {@code //} are left out.
     *
     * @throws IreeException when a file cannot be read, or holds something else
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
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "flag file '%s' is named by %d others in turn; is it one of them?".formatted(file, DEEPEST));
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
                throw new IreeException(
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
        try {
            Path path = Path.of(file);
            if (Files.size(path) > LARGEST) {
                throw new IreeException(
                        StatusCode.INVALID_ARGUMENT,
                        "flag file '%s' has %d bytes, more than %d".formatted(file, Files.size(path), LARGEST));
            }
            return Files.readAllLines(path);
        } catch (NoSuchFileException e) {
            throw new IreeException(StatusCode.NOT_FOUND, "there is no flag file '%s'".formatted(file), e);
        } catch (MalformedInputException e) {
            throw new IreeException(StatusCode.INVALID_ARGUMENT, "flag file '%s' is not text".formatted(file), e);
        } catch (IOException e) {
            throw new IreeException(StatusCode.UNAVAILABLE, "flag file '%s': %s".formatted(file, e), e);
        }
    }

    private static String shortened(String line) {
        return line.length() <= 60 ? line : line.substring(0, 60) + "…";
    }

    private static String unquoted(String value) {
        return value.length() >= 2 && value.startsWith("\"") && value.endsWith("\"")
                ? value.substring(1, value.length() - 1)
                : value;
    }

    /** The command that stands for a flag of a runner which asks for something else than to run; the arguments themselves if there is none. */
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
     * Drops flags that the command does not have and that say what is so anyway.
     *
     * @throws CommandLine.ParameterException for those that say something else
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
