package io.github.iree4j.generation;

import java.time.Duration;

/**
 * Why a token of a request came late. The parts are times of whole steps; the rest of {@code time} is work between
 * steps, and for the first token the step in progress at the submission.
 *
 * @param index index of the token among the generated tokens, 0 for the first
 * @param time time since the token before; for the first token since the submission
 * @param own steps that computed tokens of this request, tokens computed again after a preemption included
 * @param waiting steps of other requests while this request waited for pages or for its turn
 * @param prefills other steps of other requests that read prompts
 * @param decodes all other steps of other requests
 * @param preemptions how often the request lost its pages to a request that began earlier
 */
public record TokenDelay(
        int index,
        Duration time,
        Duration own,
        Duration waiting,
        Duration prefills,
        Duration decodes,
        int preemptions) {}
