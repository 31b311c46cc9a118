# make test       everything that must pass before a change lands; stops at the first failure
# make test-long  campaigns: a program of 10^9 AND gates in fixed memory, long fuzzing, a thousand faults, Miri
# make release    the command with all that it can do (--features full), as target/release/comity
# make install    the same, installed where cargo puts commands
# make bench      (--features bench) this machine's ceilings, and how close comity comes to them
# make ct         branches and indices on secrets, looked for by Valgrind in the code that ships
# make mutants    the functions that check, broken in every way and some by hand: does a test notice? (needs cargo-mutants; some hours)
# make fuzz       coverage-guided fuzzing (needs cargo-fuzz and a nightly toolchain)
# make wasm       the crates that know no operating system, for browsers
# make arm        the kernels of ARMv8, under qemu
# make tables     the tables of protocols in README.md, SECURITY.md and the book, from the protocols' cards and costs
# make book       the book as HTML under book/book (needs mdbook)
#
# A step whose tool is not installed prints SKIPPED and the rest goes on; `tools/install` brings the tools.

.NOTPARALLEL:
.PHONY: test format package lint docs licences wasm doctests tests test-long bare miri ct mutants release dist api install bench fuzz arm tables book

# The lock file is committed, and what is tested is what it names.
CARGO = cargo
LOCKED = --locked
# A toolchain that is not there is a step that is skipped, not a download.
export RUSTUP_AUTO_INSTALL = 0
# How long each fuzz target runs, in seconds.
FUZZ_SECONDS = 60
FUZZ_TARGETS = $(notdir $(wildcard fuzz/corpus/*))

# The cheap steps come first. The test runner comes last, so that its summary is the last thing on the screen.
test: format licences lint package docs wasm arm doctests tests

format:
	$(CARGO) fmt --all --check

licences:
	@if $(CARGO) deny --version >/dev/null 2>&1; then $(CARGO) deny $(LOCKED) check licenses bans sources; \
	else echo "SKIPPED licences: cargo-deny is not installed"; fi

# Every public crate can be packaged: what it needs has a version, and nothing that it needs is left out. What it needs is here when `fetch` is
# done: otherwise cargo asks the registry for each crate anew, which took most of the time.
package:
	$(CARGO) fetch $(LOCKED) --quiet --target "$$(rustc -vV | sed -n 's/^host: //p')"
	$(CARGO) package $(LOCKED) --workspace --no-verify --allow-dirty --quiet --offline \
		$(addprefix --exclude ,comity-ct comity-sum comity-xor comity-fuzz comity-book comity-examples)

lint:
	$(CARGO) clippy $(LOCKED) --workspace --all-targets -- -D warnings

# What `lint` has checked is not checked again: cargo takes it if the same driver is named, with the same arguments. If not, it checks anew.
CLIPPY = $(shell rustc --print sysroot)/bin/clippy-driver
docs:
	@if test -x "$(CLIPPY)"; then \
		export RUSTC_WORKSPACE_WRAPPER="$(CLIPPY)" CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__; fi; \
	set -x; RUSTDOCFLAGS="-D warnings" $(CARGO) doc $(LOCKED) --workspace --no-deps

doctests:
	$(CARGO) test $(LOCKED) --workspace --doc

# `check` is quick and finds what does not build; the foundation must not lean on an operating system. What only other
# backends of core use is no news there.
WASM = wasm32-unknown-unknown
WASM_CRATES = core channel circuit library format ot hashing garble protocol nisc psi zk mail
wasm:
	@if test -d "$$(rustc --print sysroot)/lib/rustlib/$(WASM)/lib"; then \
		RUSTFLAGS=-Awarnings $(CARGO) check $(LOCKED) --target $(WASM) $(WASM_CRATES:%=-p comity-%); \
	else echo "SKIPPED wasm: $(WASM) is not installed (rustup target add $(WASM))"; fi

# Every kernel against the portable ones and published vectors, on a machine that is not here.
ARM = aarch64-unknown-linux-gnu
arm:
	@if command -v qemu-aarch64 >/dev/null && command -v aarch64-linux-gnu-gcc >/dev/null && \
		test -d "$$(rustc --print sysroot)/lib/rustlib/$(ARM)/lib"; then \
		CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
		CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu" \
		$(CARGO) test $(LOCKED) --target $(ARM) -p comity-core --lib --tests; \
	else echo "SKIPPED arm: it needs qemu-user, gcc-aarch64-linux-gnu and rustup target add $(ARM)"; fi

# Unit tests, integration tests, the book's commands, and every fuzz body over its corpus: where cargo-nextest is installed the tests of
# all at once (.config/nextest.toml), else those of one after another. Twice as many run then as there are cores: many wait for processes
# that they started. TESTS is what the runner is told beside.
TESTS =
tests:
	@if $(CARGO) nextest --version >/dev/null 2>&1; then \
		runner="nextest run --test-threads $$((2 * $$(getconf _NPROCESSORS_ONLN)))"; \
	else runner=test; fi; \
	set -x; $(CARGO) $$runner $(LOCKED) --workspace --lib --bins --tests $(TESTS)

# Tests that are marked `ignore` are campaigns; they want the release profile. All are run, whatever fails, and what they counted is printed.
test-long: miri bare
	NEXTEST_PROFILE=long RUST_TEST_NOCAPTURE=1 $(MAKE) tests TESTS="--release --no-fail-fast -- --ignored"

# The command without its features: what is left out says so, and ends with exit code 2. It shares nothing with the builds of the tests.
bare:
	$(CARGO) clippy $(LOCKED) -p comity-cli -- -D warnings
	$(CARGO) build $(LOCKED) -p comity-cli
	@for args in "bench --list" "ope demo"; do \
		$(or $(CARGO_TARGET_DIR),target)/debug/comity $$args 2>&1 | grep -q -e "--features full" || \
			{ echo "comity $$args does not say that this build is without it"; exit 1; }; \
	done

# The `unsafe` of core, interpreted: every kernel of the backends `vaes256`, `aesni` and `aesni128`, by the tests that machines run, with less of
# each (`cfg!(miri)`), for Miri takes as long for a step as a machine for ten thousand. It knows no assembly, no foreign code and not all instructions
# of 512-bit registers: the loads and stores of `vaes`, its erasure code and its transposition are not looked at, and the way that only its gates
# take is, on 256 bits. Of the portable backend that which is not plain Rust.
MIRI = +aes,+pclmulqdq,+ssse3,+sse4.1,+avx2,+vaes,+vpclmulqdq
miri:
	@if $(CARGO) +nightly miri --version >/dev/null 2>&1; then \
		PROPTEST_CASES=2 MIRIFLAGS=-Zmiri-disable-isolation RUSTFLAGS="-C target-feature=$(MIRI)" \
			$(CARGO) +nightly miri test $(LOCKED) --target x86_64-unknown-linux-gnu -p comity-core --lib --tests; \
	else echo "SKIPPED miri: it is not installed"; fi

# What takes long to build is a feature of its own; what is given to users has all. The lines of the source are in a file beside, which a
# debugger finds by itself: comity.debug.
BINARY = $(or $(CARGO_TARGET_DIR),target)/release/comity
release:
	CARGO_PROFILE_RELEASE_DEBUG=line-tables-only CARGO_PROFILE_RELEASE_STRIP=none \
		$(CARGO) build $(LOCKED) --release -p comity-cli --features full
	@if command -v objcopy >/dev/null; then \
		objcopy --only-keep-debug $(BINARY) $(BINARY).debug && \
		cd $(dir $(BINARY)) && objcopy --strip-debug --add-gnu-debuglink=comity.debug comity; \
	else echo "SKIPPED symbol file: objcopy (binutils) is not installed, and $(BINARY) has its lines in itself"; fi

# A static binary and its symbols, completions, man page, Debian package, bill of materials and checksums, in the folder dist; a container where docker
# runs.
dist:
	tools/dist

# What changes for those who use the crates, against the revision BASE; of the facade all of it.
BASE = HEAD~1
api:
	@if $(CARGO) semver-checks --version >/dev/null 2>&1; then \
		$(CARGO) semver-checks --workspace --baseline-rev $(BASE); \
	else echo "SKIPPED semver-checks: it is not installed (cargo install cargo-semver-checks)"; fi
	@if $(CARGO) public-api --version >/dev/null 2>&1 && $(CARGO) +nightly --version >/dev/null 2>&1; then \
		$(CARGO) +nightly public-api -p comity diff $(BASE)..HEAD; \
	else echo "SKIPPED public-api: it is not installed (cargo install cargo-public-api, and nightly)"; fi

install:
	$(CARGO) install $(LOCKED) --path crates/front/cli --features full

# The code is that of a release, since it is the optimizer that makes a branch of a mask. Valgrind's machine has AES-NI and AVX2, and no
# more: the other kernels are not looked at. CT names the cases to keep to.
CT =
ct:
	@if command -v valgrind >/dev/null && test "$$(uname -sm)" = "Linux x86_64"; then \
		$(CARGO) build $(LOCKED) --release -p comity-ct --features ct && \
		valgrind -q --error-limit=no --num-callers=30 --suppressions=testing/ct/foreign.supp \
			$(or $(CARGO_TARGET_DIR),target)/release/comity-ct $(CT); \
	else echo "SKIPPED ct: it needs Valgrind, and Linux on x86-64"; fi

# First the mutants that were made by hand, which need no tool. MUTANTS is the shard, and the crates to keep to: `make mutants MUTANTS="2/8"`, `make mutants MUTANTS="0/1 crates/foundation/share"`.
MUTANTS = 0/1
mutants:
	testing/mutants/run-made $(MUTANTS)
	@if $(CARGO) mutants --version >/dev/null 2>&1; then testing/mutants/run $(MUTANTS); \
	else echo "SKIPPED mutants: cargo-mutants is not installed"; fi

bench:
	$(CARGO) run $(LOCKED) --release -p comity-cli --features bench -- bench

fuzz:
	@if $(CARGO) fuzz --version >/dev/null 2>&1; then \
		$(CARGO) run $(LOCKED) -q -p comity-fuzz --example found unpack fuzz/libfuzzer/corpus || exit 1; \
		for target in $(FUZZ_TARGETS); do \
			mkdir -p fuzz/libfuzzer/corpus/$$target; \
			COMITY_FUZZ_TARGET=$$target $(CARGO) +nightly fuzz run --fuzz-dir fuzz/libfuzzer body \
				fuzz/libfuzzer/corpus/$$target fuzz/corpus/$$target -- -max_total_time=$(FUZZ_SECONDS) || exit 1; \
		done; \
	else echo "SKIPPED fuzz: cargo-fuzz is not installed (make test runs the same bodies over the corpus)"; fi

tables:
	COMITY_WRITE_TABLES=1 $(CARGO) test $(LOCKED) -p comity-book --test tests tables

book:
	@if mdbook --version >/dev/null 2>&1; then mdbook build book; \
	else echo "SKIPPED book: mdbook is not installed (the pages are plain Markdown under book/src)"; fi
