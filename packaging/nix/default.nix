# Written after nixpkgs' documentation; not run.
{ pkgs ? import <nixpkgs> { } }:
pkgs.clangStdenv.mkDerivation {
  pname = "espalier";
  version = "0.2.0";
  src = ../..;
  nativeBuildInputs = with pkgs; [ cmake ninja pkg-config ];
  buildInputs = with pkgs; [ boost spdlog fmt tinyxml-2 yaml-cpp muparser tbb cli11 nlohmann_json assimp zlib ];
  propagatedBuildInputs = [ pkgs.eigen ];
  cmakeFlags = [ "-DESPALIER_TESTS=OFF" "-DESPALIER_ALGLIB=OFF" "-DESPALIER_UMFPACK=OFF" "-DESPALIER_UNITY=ON" ];
  meta = {
    description = "Dynamics of robots whose limbs contain gears, differentials, belts and four-bars";
    license = pkgs.lib.licenses.bsd3;
    platforms = [ "x86_64-linux" ];
  };
}
