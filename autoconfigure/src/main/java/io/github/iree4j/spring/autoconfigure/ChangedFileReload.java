package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.problems.ChangedFile;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Loads programs again after a change of their files, by the rules of every load: a program that cannot be loaded is not put into service. */
final class ChangedFileReload implements Consumer<ChangedFile> {

    private static final Logger log = LoggerFactory.getLogger(ChangedFileReload.class);

    private final Programs programs;
    private final Executor executor;

    /** Loads programs on threads of {@code executor}. */
    ChangedFileReload(Programs programs, Executor executor) {
        this.programs = programs;
        this.executor = executor;
    }

    @Override
    public void accept(ChangedFile changed) {
        executor.execute(() -> reload(changed));
    }

    private void reload(ChangedFile changed) {
        boolean isStill = programs.find(changed.program(), changed.version())
                .flatMap(LoadedProgram::failure)
                .filter(failure -> failure.code() == StatusCode.DATA_LOSS)
                .isPresent();
        if (!isStill) {
            return; // somebody has loaded or unloaded the program, or the file gives no answer
        }
        log.info("{} is loaded again, since a file of it was changed", changed.subject());
        try {
            programs.load(changed.program(), changed.version());
        } catch (ProgramLoadException | IreeException e) {
            log.error("{} cannot be loaded again, so calls keep failing", changed.subject(), e);
        }
    }
}
