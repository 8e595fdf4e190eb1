package io.github.iree4j.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class ClientTextTests {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "module: there is no file '/srv/my models/x.vmfb' | module: there is no file 'x.vmfb'",
                "could not be loaded from 'file:/srv/models/x.vmfb': no | could not be loaded from 'x.vmfb': no",
                "could not be loaded from 'file:///srv/x.vmfb': no | could not be loaded from 'x.vmfb': no",
                "/srv/models/w.irpa had 5 bytes, now /srv/w2.irpa has | w.irpa had 5 bytes, now w2.irpa has",
                "URL [jar:file:/app/a.jar!/BOOT-INF/x.vmfb] | URL [x.vmfb]",
                "/srv/models/x.vmfb: truncated | x.vmfb: truncated",
                "parameter 'file:1/model.vmfb' is application/json | parameter 'file:1/model.vmfb' is application/json",
                "needs 3 / 4 of tensor<2x3xf32>, 'models/x.vmfb' | needs 3 / 4 of tensor<2x3xf32>, 'models/x.vmfb'",
            })
    void filesHaveNoDirectories(String message, String text) {
        assertThat(ClientText.of(IreeException.of(StatusCode.DATA_LOSS, message)))
                .isEqualTo(text);
        assertThat(ClientText.of(new IllegalStateException(message))).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "it read from 0x7f7fe92ff000, inaccessible memory | it read from an address, inaccessible memory",
                "dispatch at 0x5581a2b3c4d5e6f7: no | dispatch at an address: no",
                "the encoding 0x20000011 is unknown | the encoding 0x20000011 is unknown",
            })
    void addressesAreNotForClients(String message, String text) {
        assertThat(ClientText.of(new IllegalStateException(message))).isEqualTo(text);
    }

    @Test
    void directoriesMayBeMany() {
        String path = "/d".repeat(100_000) + "/x.vmfb";
        assertThat(ClientText.of(new IllegalStateException("'" + path + "' and " + path)))
                .isEqualTo("'x.vmfb' and x.vmfb");
    }

    @Test
    void textForClientsIsFoundBehindTheCallersAction() {
        IreeException failure = IreeException.of(
                StatusCode.NOT_FOUND, "there is no 'x'; there are [y]", null, new ClientText("there is no 'x'"));
        assertThat(ClientText.of(failure.during("in a batch"))).isEqualTo("there is no 'x'");
        assertThat(failure).hasMessageContaining("[y]");
    }

    @Test
    void whereMemoryIsShortIsNotForClients() {
        IreeException shortage = IreeException.of(StatusCode.RESOURCE_EXHAUSTED, "allocation of 5 bytes");
        assertThat(ClientText.of(shortage.during("in @secret.main").during("in 'outer.call'")))
                .isEqualTo("allocation of 5 bytes");
        IreeException told =
                IreeException.of(StatusCode.RESOURCE_EXHAUSTED, "no 5 bytes left: OUT_OF_MEMORY", shortage);
        assertThat(ClientText.of(told)).isEqualTo(told.getMessage());
    }

    @ParameterizedTest
    @EnumSource(value = StatusCode.class, names = "OK", mode = EnumSource.Mode.EXCLUDE)
    void placesInProgramsAreNotForClients(StatusCode code) {
        String place = "in @module.divide+0x1 (math (1).py:1:2), in @module.main+0x10 (layers; old.py:7:9), and 4 more";
        IreeException failure = IreeException.of(code, "division by zero").during(place);
        assertThat(ClientText.of(failure)).isEqualTo("division by zero");
        assertThat(ClientText.of(failure.during("in @outer.main+0x1"))).isEqualTo("division by zero");
        assertThat(ClientText.of(IreeException.of(code, failure.getMessage()))).isEqualTo("division by zero");
        assertThat(ClientText.of(IreeException.of(StatusCode.INTERNAL, failure + "; " + place, failure)))
                .doesNotContain("module");
        assertThat(ClientText.of(new IllegalStateException("unexpected failure: no; " + place)))
                .isEqualTo("unexpected failure: no");
    }

    @Test
    void theCallersActionIsForClients() {
        IreeException failure = IreeException.of(StatusCode.INTERNAL, "no").during("in @module.main+0x1");
        assertThat(ClientText.of(failure.during("in part 2 of the batch"))).isEqualTo("no; in part 2 of the batch");
    }
}
