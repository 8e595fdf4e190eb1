package io.github.iree4j.generation;

/**
 * A function for up to {@code batch} sequences.
 *
 * @param name the full name, for messages
 * @param prefill whether the function reads prompts, otherwise a token of each sequence
 * @param batch number of rows, always all passed
 */
record Entry(String name, boolean prefill, int batch) {
    @Override
    public String toString() {
        return name;
    }
}
