package io.github.iree4j.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;

/** One run of the command line as a script sees it. */
record CommandLineRun(int status, String out, String err) {
    private static final Path FIXTURES = Path.of("../fixtures");

    static CommandLineRun iree4j(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int status = Iree4jCommand.execute(new PrintWriter(out), new PrintWriter(err), arguments);
        return new CommandLineRun(status, out.toString().replace("\r", ""), err.toString());
    }

    /** Writes a module of VMASM text and returns its file. */
    static String assembled(Path directory, String name, String text) throws IOException {
        Path source = Files.writeString(directory.resolve(name + ".vmasm"), text);
        CommandLineRun run = iree4j("asm", source.toString());
        assertThat(run.status()).as(run.err()).isZero();
        return directory.resolve(name + ".vmfb").toString();
    }

    /** A module by release, variant and program, or an archive of parameters by its name. */
    static String fixture(String name) {
        Path file = FIXTURES.resolve(name.endsWith(".irpa") ? "parameters" : "modules")
                .resolve(name);
        assertThat(file).isRegularFile();
        return file.toString();
    }
}
