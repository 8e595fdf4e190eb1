package io.github.iree4j;

import java.time.Duration;
import java.time.Instant;
import org.openjdk.jcstress.Main;

/** Runs jcstress, unless the build has exceeded its time budget. */
public final class Claims {
    private Claims() {}

    /**
     * Runs the claims.
     *
     * @param arguments the arguments of jcstress
     * @throws Exception if jcstress throws
     */
    public static void main(String[] arguments) throws Exception {
        String started = System.getProperty("iree4j.build.started");
        if (started != null) {
            Duration limit = Duration.ofMinutes(Long.getLong("iree4j.build.minutes", 0));
            if (Duration.between(Instant.parse(started), Instant.now()).compareTo(limit) > 0) {
                System.out.printf(
                        "(Results: left to bin/nightly, this build is older than %d minutes)%n", limit.toMinutes());
                return;
            }
        }
        Main.main(arguments);
    }
}
